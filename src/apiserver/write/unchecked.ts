/** A write by the server itself: what it may change is decided where it is made. */
import type { Subresource } from "../../api/machinery/resource.ts";

export const UNCHECKED: Extract<Subresource, { readonly of: "object" }> = { of: "object", verbs: [], prepareForUpdate: (next) => next };
