/** An image's name as registries and runtimes know it, with everything that people leave out. */

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
