/**
 * Maximum body size by kind of request. Objects that are stored may be as large as the HTTP server allows; everything else needs kilobytes,
 * and some of it (SelfSubjectAccessReview) every authenticated user may send, so its cost must be small by construction.
 * The body is rejected with 413 before it is read, if it has a Content-Length, and as soon as it exceeds the limit, if it has none.
 */
import type { Verb } from "../../api/machinery/resource.ts";
import type { ResolvedResource } from "../framework/access/resolved-resource.ts";

/**
 * For reviews, actions (eviction, token) and DeleteOptions. The largest real ones are reviews of users in thousands of groups and of long
 * tokens: headers carry both, and those may have 64 KiB, too (HEADER_BYTES_MAX). Decoding this much takes a few milliseconds at worst.
 */
export const SMALL_BODY_BYTES_MAX = 64 * 1024;

/** Undefined: the limit of the HTTP server. A resource that is not served is the verb's to report. */
export function bodyBytesMax({ endpoint, subresource }: ResolvedResource, verb: Verb): number | undefined {
  if (verb === "delete" || verb === "deletecollection") return SMALL_BODY_BYTES_MAX;
  if (endpoint === undefined) return undefined;
  const { resource } = endpoint;
  if (!resource.stored) return resource.bodyBytesMax ?? SMALL_BODY_BYTES_MAX;
  return subresource?.of === "action" ? (subresource.takes.bodyBytesMax ?? SMALL_BODY_BYTES_MAX) : undefined;
}
