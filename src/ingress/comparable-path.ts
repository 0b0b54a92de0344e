/**
 * Paths in the form in which routes and requests are compared: RFC 3986, 6.2.2 says that "%61" and "a" are the same, and "%c3" and "%C3".
 * Servers decode both, so a route that compared the text alone could be bypassed. Pure. The endpoint gets the path as the client wrote it.
 */

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** Letters, digits and "-._~" decoded, other encodings in upper case. */
export function comparablePath(path: string): string {
  if (!path.includes("%")) return path;
  return path.replaceAll(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return UNRESERVED.test(character) ? character : encoded.toUpperCase();
  });
}
