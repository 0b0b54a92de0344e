/**
 * Maps paths between /var/lib/kubelet and the root directory that this kubelet has. Manifests of storage drivers and node agents name
 * /var/lib/kubelet; on a machine with several nodes each kubelet has a directory of its own. Pure.
 */

/** Root directory that manifests assume: the default of upstream's kubelet. */
export const DEFAULT_ROOT = "/var/lib/kubelet";

export function isBelowDefaultRoot(path: string): boolean {
  return pathBelow(DEFAULT_ROOT, path) !== undefined;
}

/** "/var/lib/kubelet/pods" → "<root>/pods". Other paths stay. */
export function toOwnRoot(path: string, root: string): string {
  const rest = pathBelow(DEFAULT_ROOT, path);
  return rest === undefined ? path : `${root}${rest}`;
}

/** "<root>/pods" → "/var/lib/kubelet/pods", for a driver that has the kubelet's directory there. Other paths stay. */
export function toDefaultRoot(path: string, root: string): string {
  const rest = pathBelow(root, path);
  return rest === undefined ? path : `${DEFAULT_ROOT}${rest}`;
}

/** "" or "/…"; undefined if the path is neither the directory nor below it. */
function pathBelow(directory: string, path: string): string | undefined {
  const clean = path.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
  if (clean === directory) return "";
  return clean.startsWith(`${directory}/`) ? clean.slice(directory.length) : undefined;
}
