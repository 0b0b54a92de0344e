/** Normalizes a path so that it cannot escape its prefix. */

/** Removes the segments "", "." and ".."; "" stays "". */
export function tidyPath(path: string): string {
  if (path === "") return "";
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  const tidy = `/${segments.join("/")}`;
  return path.endsWith("/") && tidy !== "/" ? `${tidy}/` : tidy;
}
