/** "/" and /index.html: the paths that the server serves. */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { Document, DocumentDependencies } from "../framework/document.ts";

export function indexDocument({ listedPaths }: Pick<DocumentDependencies, "listedPaths">): Document {
  return {
    name: "index",
    answers: (path) => path === "/" || path === "/index.html",
    async answer() {
      const paths = [...new Set(await listedPaths())].toSorted();
      const body = [new TextEncoder().encode(JSON.stringify({ paths }, null, 2))];
      return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body };
    },
  };
}
