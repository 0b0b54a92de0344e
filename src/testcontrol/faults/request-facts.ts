/** What a fault can match of a request, read from the request alone: before authentication, so nothing here grants anything. */
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import { parsePath, verbOf } from "../../apiserver/framework/access/request-path.ts";
import type { ExchangeRequest } from "../../apiserver/framework/exchange.ts";

export interface RequestFacts {
  readonly path: string;
  readonly userAgent: string;
  /** As claimed: by impersonation, a service account token or a client certificate. "" for others. */
  readonly user: string;
  /** Absent for documents such as /version. */
  readonly resource?: {
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
}

export function factsOf(request: ExchangeRequest): RequestFacts {
  const { path } = request;
  const resource = resourceOf(request);
  return { path, userAgent: request.header("user-agent") ?? "", user: userOf(request), ...(resource === undefined ? {} : { resource }) };
}

function resourceOf({ method, path, query }: ExchangeRequest): RequestFacts["resource"] {
  try {
    const parsed = parsePath(path);
    if (parsed.is !== "resource") return undefined;
    const { group, plural: resource, subresource, namespace, name } = parsed;
    const watch = new URLSearchParams(query).get("watch");
    const verb = verbOf(method, parsed, watch === "true" || watch === "1") ?? method.toLowerCase();
    return { verb, group, resource, subresource, namespace, name };
  } catch {
    // The server reports what is wrong with the path.
    return undefined;
  }
}

function userOf(request: ExchangeRequest): string {
  const impersonated = request.header("impersonate-user");
  if (impersonated !== undefined) return impersonated;
  const [, token] = /^Bearer (.+)$/i.exec(request.header("authorization") ?? "") ?? [];
  if (token !== undefined) return subjectOf(token);
  const { certificate } = request.peer;
  return certificate === undefined ? "" : commonNameOf(certificate.pem);
}

/** The subject of a JSON web token. */
function subjectOf(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const { sub } = claims as { readonly sub?: unknown };
    return typeof sub === "string" ? sub : "";
  } catch {
    return "";
  }
}

function commonNameOf(pem: string): string {
  try {
    return parsePemCertificates(pem)[0]?.subject.commonName ?? "";
  } catch {
    return "";
  }
}
