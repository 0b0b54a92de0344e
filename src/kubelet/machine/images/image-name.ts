/** Full image names, with default registry, folder and tag. */

const DEFAULT_REGISTRY = "docker.io";
const DEFAULT_FOLDER = "library";
const DEFAULT_TAG = "latest";

/** "busybox" is "docker.io/library/busybox:latest"; "reg.example:5000/x:1" is itself. */
export function wholeImageName(name: string): string {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const hasRegistry = first === "localhost" || /[.:]/.test(first);
  const path = hasRegistry ? name : `${DEFAULT_REGISTRY}/${slash < 0 ? `${DEFAULT_FOLDER}/` : ""}${name}`;
  return hasTag(path) ? path : `${path}:${DEFAULT_TAG}`;
}

function hasTag(path: string): boolean {
  return path.includes("@") || path.slice(path.lastIndexOf("/")).includes(":");
}

export interface ImageDigests {
  /** Digest of its manifest. */
  readonly own: string;
  /** Digest of the multi-platform index that it was selected from, if any: multi-platform deployments reference that. */
  readonly list?: string | undefined;
}

/** Why an image with these digests cannot have this name; undefined if it can: the name has no digest, or one of the image's. */
export function digestProblem(name: string, { own, list }: ImageDigests): string | undefined {
  const at = name.indexOf("@");
  if (at < 0 || [own, list].includes(name.slice(at + 1))) return undefined;
  const plain = name.slice(0, at);
  return `Cannot call the image "${name}": its digest is ${own}; give "${plain}@${own}" or a tag with --image-name`;
}
