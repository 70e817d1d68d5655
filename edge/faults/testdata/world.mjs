// The clock and the randomness of worker.mjs. It is loaded first: wasm_exec.js and the program
// see no others.
const { now } = Date, uptime = performance.now.bind(performance), random = crypto.getRandomValues.bind(crypto), send = fetch;
let moved = 0, wall = 0, monotonic = 0, fails = false, isLive = false;

const tick = () => { wall = now() + moved; monotonic = uptime(); };

export function enter({ clock, random }) {
  if (clock !== undefined) { moved = clock; isLive = true; }
  if (random !== undefined) fails = !random;
  tick();
}

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) { if (given.length) super(...given); else super(Date.now()); }
  static now() { return isLive ? wall : now(); }
};
performance.now = () => isLive ? monotonic : uptime();
globalThis.fetch = async (...given) => { const response = await send(...given); tick(); return response; };
crypto.getRandomValues = view => { if (fails) throw new Error("no randomness"); return random(view); };
