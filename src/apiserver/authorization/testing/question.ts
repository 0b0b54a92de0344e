/**
 * An authorization question as text: a verb and a path, or a verb, a resource (with group and subresource) and optionally a name, a
 * namespace and a field selector: `update deployments.apps/scale web in team`, `list pods where spec.nodeName=node-1`.
 */
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { User } from "../../framework/request.ts";

export interface Question {
  readonly verb: string;
  /** "" for a resource question. */
  readonly path: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  /** "spec.nodeName=node-1", or "" */
  readonly fieldSelector: string;
}

const SENTENCE = /^(?<verb>\S+) (?<what>\S+)(?: (?!in |where )(?<name>\S+))?(?: in (?<namespace>\S+))?(?: where (?<fieldSelector>\S+))?$/;

export function questionOf(sentence: string): Question {
  const parts = SENTENCE.exec(sentence)?.groups;
  if (parts === undefined) throw new Error(`Cannot read the question "${sentence}"`);
  const { verb = "", what = "", name = "", namespace = "", fieldSelector = "" } = parts;
  if (what.startsWith("/")) return { verb, path: what, group: "", plural: "", subresource: "", name, namespace, fieldSelector };
  const [resource = "", subresource = ""] = what.split("/");
  const [plural = "", ...group] = resource.split(".");
  // A Namespace object is in its own namespace.
  return {
    verb,
    path: "",
    group: group.join("."),
    plural,
    subresource,
    name,
    namespace: plural === "namespaces" ? name : namespace,
    fieldSelector,
  };
}

/** Converts the question to a SubjectAccessReview. */
export function reviewOf({ verb, path, fieldSelector, plural, ...resource }: Question, { name: user, groups }: User): JsonObject {
  const [key = "", value = ""] = fieldSelector.split("=");
  const selector = fieldSelector === "" ? {} : { fieldSelector: { requirements: [{ key, operator: "In", values: [value] }] } };
  const about =
    path === "" ? { resourceAttributes: { verb, ...resource, resource: plural, ...selector } } : { nonResourceAttributes: { verb, path } };
  return { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec: { user, groups: [...groups], ...about } };
}
