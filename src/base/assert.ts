/**
 * Stops the current work when the *programmer* is wrong.
 * What a user, a network or a disk may get wrong is an error value or a named error, never an assert.
 */
export function assert(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new AssertionFailed(claim);
}

export class AssertionFailed extends Error {
  override readonly name = "AssertionFailed";
}

/** Makes the compiler prove that a switch over a union handled every member. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`Unhandled case: ${JSON.stringify(value)}`);
}
