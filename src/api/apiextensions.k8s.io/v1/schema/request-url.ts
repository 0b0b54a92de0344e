/**
 * A URL as the first line of an HTTP request has one: absolute, or an absolute path, and without a fragment. That is what upstream means
 * by the format "uri".
 */
import { type GoUrl, parseGoUrl, UrlError } from "../../../machinery/go-url.ts";

/** Undefined if it is none. */
export function parseRequestUrl(text: string): GoUrl | undefined {
  const isPath = text.startsWith("/");
  if (!isPath && text !== "*" && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return undefined;
  try {
    // Two slashes at the beginning of a path do not make a host here, and a hash is a character like any other.
    return parseGoUrl(`${isPath ? "/." : ""}${text.replaceAll("#", "%23")}`);
  } catch (error) {
    if (error instanceof UrlError) return undefined;
    throw error;
  }
}
