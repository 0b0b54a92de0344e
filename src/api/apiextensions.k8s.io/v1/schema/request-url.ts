/** A URL as in the request line of HTTP: absolute, or an absolute path, and without a fragment. That is upstream's format "uri". */
import { type GoUrl, parseGoUrl, UrlError } from "../../../machinery/go-url.ts";

/** Undefined if it is malformed. */
export function parseRequestUrl(text: string): GoUrl | undefined {
  const isPath = text.startsWith("/");
  if (!isPath && text !== "*" && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return undefined;
  try {
    // Two leading slashes of a path do not make a host here, and "#" is an ordinary character.
    return parseGoUrl(`${isPath ? "/." : ""}${text.replaceAll("#", "%23")}`);
  } catch (error) {
    if (error instanceof UrlError) return undefined;
    throw error;
  }
}
