/** A malformed certificate or certificate request. The message is that of Go's libraries, since clients see it. */
export class X509Error extends Error {
  override readonly name = "X509Error";
}

export function refuse(message: string): never {
  throw new X509Error(message);
}
