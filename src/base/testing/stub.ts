/**
 * A test double with only those members of a contract that the code under test uses. The compiler checks the names of the members, not
 * their types: a stub that returns one object cannot have the generic signature of the real method.
 */
export function stub<T extends object>(members: { readonly [Member in keyof T]?: unknown }): T {
  const partial: object = members;
  return partial as T;
}
