// Stands in for the worker's store.mjs: the records are the test's, which every operation goes to.
export class AuthStore {
  constructor(state, env) { this.records = env.CONF_STORE; }

  fetch(request) {
    return fetch(this.records + new URL(request.url).pathname, request);
  }
}
