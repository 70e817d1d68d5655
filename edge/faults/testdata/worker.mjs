// The worker in a world that the test has in hand: its clock stands still but for what comes in
// from outside, and its source of randomness can fail. A request's header X-World says how:
//   {"clock": milliseconds to add to the time from now on, "random": false if there is none}
import "./world.mjs";
import worker from "./product.mjs";
import { enter } from "./world.mjs";
export { AuthStore } from "./store.mjs";

export default {
  fetch(request, env, ctx) {
    enter(JSON.parse(request.headers.get("X-World") ?? "{}"));
    return worker.fetch(request, env, ctx);
  },
};
