/** A path of the API and its operations, as OpenAPI lists them. Types only. */
import type { GroupVersionKind } from "../../../api/machinery/object.ts";
import type { QueryParameter } from "./query-parameters.ts";

export interface ApiPath {
  readonly path: string;
  readonly inPath: readonly ("name" | "namespace" | "path")[];
  /** The kind that the name in the path belongs to. */
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
  /** Success responses. */
  readonly codes: readonly (200 | 201 | 202)[];
  /** The response type. Absent: text. */
  readonly answer?: string;
  /** Response media types: all forms of an object, also event streams or text, only JSON, or any. */
  readonly form: "object" | "untyped" | "stream" | "text" | "json" | "any";
  /** Strategic merge patches are not supported. */
  readonly isUntyped?: boolean;
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
