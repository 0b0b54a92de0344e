/** A certificate, or a request for one, that cannot be read. The message is that of Go's libraries, since clients are shown it. */
export class X509Error extends Error {
  override readonly name = "X509Error";
}

export function refuse(message: string): never {
  throw new X509Error(message);
}
