/**
 * Authorization attributes of a kubelet request: a verb on subresources of the Node. One allowed subresource is enough; they are tried in
 * this order, the narrow one first.
 */

export interface RequestAttributes {
  /** "" for methods without an API verb, which no rule allows. */
  readonly verb: string;
  readonly subresources: readonly string[];
}

const VERBS = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** A path with its descendants; nodes/proxy also grants them. */
const SUBRESOURCES: readonly (readonly [path: string, subresources: readonly string[]])[] = [
  ["/pods", ["pods", "proxy"]],
  ["/healthz", ["healthz", "proxy"]],
  ["/configz", ["configz", "proxy"]],
  ["/runningpods", ["pods", "proxy"]],
  ["/stats", ["stats"]],
  ["/metrics", ["metrics"]],
  ["/logs", ["log"]],
  ["/checkpoint", ["checkpoint"]],
  ["/statusz", ["statusz"]],
  ["/flagz", ["configz"]],
];

const ANYTHING_ELSE = ["proxy"];

/** `path` is decoded. */
export function attributesOf(method: string, path: string): RequestAttributes {
  const found = SUBRESOURCES.find(([top]) => path === top || path.startsWith(`${top}/`));
  return { verb: VERBS.get(method) ?? "", subresources: found?.[1] ?? ANYTHING_ELSE };
}
