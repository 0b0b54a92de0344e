/** A path of the API and its operations, as OpenAPI lists them. Types only. */
import type { GroupVersionKind } from "../../../api/machinery/object.ts";
import type { QueryParameter } from "./query-parameters.ts";

export interface ApiPath {
  readonly path: string;
  readonly inPath: readonly ("name" | "namespace" | "path")[];
  /** What the name in the path is a name of. */
  readonly nameOf: string;
  /** The type whose fields are parameters of all operations. */
  readonly options?: string;
  readonly operations: readonly Operation[];
}

export type Method = "get" | "put" | "post" | "delete" | "patch" | "head" | "options";

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly query: readonly QueryParameter[];
  readonly body?: { readonly type: string; readonly isRequired: boolean; readonly isPatch: boolean };
  /** Those that succeed. */
  readonly codes: readonly (200 | 201 | 202)[];
  /** The type of what is answered. Absent: it is text. */
  readonly answer?: string;
  /** Whether it answers in all forms of an object, also with a stream of events or as text, only in JSON, or in any form at all. */
  readonly form: "object" | "stream" | "text" | "json" | "any";
  readonly action?: string;
  readonly kind?: GroupVersionKind;
}

export interface Place {
  readonly root: string;
  /** "/namespaces/{namespace}/pods". */
  readonly collection: string;
  readonly inCollection: readonly "namespace"[];
  /** "CoreV1". */
  readonly prefix: string;
  /** "NamespacedPod", "Node". */
  readonly noun: string;
  readonly tag: string;
  readonly kind: GroupVersionKind;
}
