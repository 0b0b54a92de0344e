/**
 * Assertions for *programming* errors only. What a user, a network or a disk can get wrong is an error value or a named error, never an
 * assertion.
 */
export function assert(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new AssertionFailed(claim);
}

export class AssertionFailed extends Error {
  override readonly name = "AssertionFailed";
}

/** Makes the compiler prove that a switch over a union handles every member. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`Unhandled case: ${JSON.stringify(value)}`);
}
