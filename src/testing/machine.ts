/** What tests of pure rooms borrow from the machine, since they may not know its door themselves: the real clock, a real hash. */
export { realClock, realMacrotask } from "../host/real-clock.ts";
export { sha256 } from "../host/crypto/hash.ts";
