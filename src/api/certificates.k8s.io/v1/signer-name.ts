/** Names of signers, "example.com/my-signer", in certificate requests and trust bundles. */
import { quoteGo } from "../../machinery/codec/go-text.ts";
import { invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import {
  DNS_LABEL_LENGTH_MAX,
  DNS_SUBDOMAIN_LENGTH_MAX,
  isLongerThan,
  validateDnsLabel,
  validateDnsSubdomain,
} from "../../machinery/names.ts";

/** A path may be an object name, optionally prefixed with its namespace. */
const PATH_MAX_BYTES = DNS_SUBDOMAIN_LENGTH_MAX + DNS_LABEL_LENGTH_MAX + 1;
const NAME_MAX_BYTES = DNS_SUBDOMAIN_LENGTH_MAX + PATH_MAX_BYTES + 1;

export function* validateSignerName(name: string, at: string): Iterable<FieldError> {
  if (name === "") {
    yield required(at);
    return;
  }
  const [domain = "", path, ...more] = name.split("/");
  if (path === undefined || more.length > 0) {
    yield invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (isLongerThan(domain, DNS_SUBDOMAIN_LENGTH_MAX)) yield tooLong(at, DNS_SUBDOMAIN_LENGTH_MAX);
  yield* firstBadLabel(domain, at, validateDnsLabel);
  if (!domain.includes(".")) yield invalid(at, domain, "should be a domain with at least two segments separated by dots");
  yield* firstBadLabel(path, at, validateDnsSubdomain);
  if (isLongerThan(name, NAME_MAX_BYTES)) yield tooLong(at, NAME_MAX_BYTES);
}

/** Further errors would have the same message. */
function* firstBadLabel(text: string, at: string, validate: (label: string) => readonly string[]): Iterable<FieldError> {
  for (const label of text.split(".")) {
    const wrong = validate(label);
    for (const sentence of wrong) yield invalid(at, text, `validating label ${quoteGo(label)}: ${sentence}`);
    if (wrong.length > 0) return;
  }
}
