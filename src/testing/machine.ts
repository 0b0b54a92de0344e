/** What tests of pure folders use of the machine, since those must not import it themselves: the real clock, a real hash. */
export { realClock, realMacrotask } from "../host/real-clock.ts";
export { sha256 } from "../host/crypto/hash.ts";
