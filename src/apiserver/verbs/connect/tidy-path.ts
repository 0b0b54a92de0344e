/** A path without what could lead out of it. */

/** As one segment after the other without "", "." and ".."; "" stays "". */
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
