// Stands in for the worker's store.mjs: the records are the test's, which every operation goes to.
export class AuthStore {
  constructor(state, env) { this.records = env.CONF_STORE; }

  fetch(request) {
    const { pathname, search } = new URL(request.url);
    return fetch(this.records + pathname + search, request);
  }
}
