/**
 * Validates how the API server reaches a webhook: by a URL, or as a Service of the cluster. Admission and the conversion of custom
 * resources share it.
 */
import { child, invalid, required, type FieldError } from "./machinery/field-error.ts";
import { parseGoUrl, UrlError } from "./machinery/go-url.ts";
import { validateDnsSubdomain, validatePortNumber } from "./machinery/names.ts";

const FORM = "; desired format: https://host[/path]";

export function* validateWebhookUrl(text: string, at: string): Iterable<FieldError> {
  const url = readUrl(text);
  if (typeof url === "string") {
    yield required(at, `url must be a valid URL: ${url}${FORM}`);
    return;
  }
  if (url.scheme !== "https") yield invalid(at, url.scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (url.host === "") yield invalid(at, url.host, `host must be specified${FORM}`);
  if (url.user !== undefined) yield invalid(at, url.user, "user information is not permitted in the URL");
  if (url.fragment !== "") yield invalid(at, url.fragment, "fragments are not permitted in the URL");
  if (url.query !== "") yield invalid(at, url.query, "query parameters are not permitted in the URL");
}

/** The error, if the URL cannot be parsed. */
function readUrl(text: string) {
  try {
    return parseGoUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return error.message;
    throw error;
  }
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

export function* validateWebhookService(service: WebhookService, at: string): Iterable<FieldError> {
  const { namespace, name, path = "", port = 0 } = service;
  if (name === "") yield required(child(at, "name"));
  if (namespace === "") yield required(child(at, "namespace"));
  const wrong = validatePortNumber(port);
  if (wrong.length > 0) yield invalid(child(at, "port"), port, `port is not valid: ${wrong.join(", ")}`);
  yield* validatePath(path, child(at, "path"));
}

function* validatePath(path: string, at: string): Iterable<FieldError> {
  if (path === "" || path === "/") return;
  if (path === "//") {
    yield invalid(at, path, "segment[0] may not be empty");
    return;
  }
  if (!path.startsWith("/")) yield invalid(at, path, "must start with a '/'");
  // The first character is always skipped, as upstream does.
  const steps = path.slice(1).replace(/\/$/, "").split("/");
  for (const [index, step] of steps.entries()) {
    if (step === "") yield invalid(at, path, `segment[${index}] may not be empty`);
    else for (const wrong of validateDnsSubdomain(step)) yield invalid(at, path, `segment[${index}]: ${wrong}`);
  }
}
