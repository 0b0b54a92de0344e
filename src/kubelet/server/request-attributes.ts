/**
 * What somebody needs to be allowed to ask a kubelet for something: a verb on a subresource of the Node. Of several subresources one is
 * enough; they are tried in this order, the narrow one first.
 */

export interface RequestAttributes {
  /** "" for methods that mean nothing to the API: nobody is given that. */
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

/** A path with all below it; whoever may use the proxy of a node may also have those that name it. */
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
