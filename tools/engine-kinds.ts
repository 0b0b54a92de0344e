/**
 * The engine of the API server is generic: it names no kind. What a kind needs comes from its definition (src/api/machinery/resource.ts) or
 * its extension (src/apiserver/resources/<kind>), so that a custom resource is served by the same code. Strings, templates, paths and
 * imports of the files that define kinds are checked.
 */
import { posix } from "node:path";
import type { Node } from "oxc-parser";
import { isIn } from "./layers.ts";
import { importsOf } from "./source/imports.ts";
import { isTestCode, type Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

const ENGINE = ["framework", "limits", "pipeline", "rest", "storage", "verbs", "watch", "write"].map((room) => `src/apiserver/${room}`);

/** Strings that are spelled like a kind and mean something else. */
const OTHER_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  // A segment of the grammar of paths.
  "src/apiserver/framework/access/request-path.ts": ["namespaces"],
  // An authorization mode.
  "src/apiserver/framework/api-server-config.ts": ["Node"],
  // A segment of the grammar of paths.
  "src/apiserver/verbs/connect/forwarding.ts": ["namespaces"],
  // A path parameter in upstream's error message.
  "src/apiserver/verbs/verbs.ts": ["Namespace"],
};

export interface KindNames {
  readonly kind: string;
  readonly plural: string;
}

/** Files that define kinds: src/api/<group>/<version>. */
const KIND_FILES = /^src\/api\/(?!machinery\/|generated\/)[^/]+\/v\d/;

/** One sentence per string, path or import that names a resource, with its file and line. */
export function engineKindViolations(sources: Iterable<Source>, resources: readonly KindNames[]): string[] {
  const names = new Set(resources.flatMap(({ kind, plural }) => [kind, plural]));
  return [...sources].flatMap((source) => {
    const { path, program, lineAt } = source;
    if (isTestCode(path) || !ENGINE.some((room) => isIn(room, path))) return [];
    const found: string[] = [];
    const report = (line: number, name: string) =>
      found.push(`${path}:${line}: names ${name}; the engine knows no kind, its definition or extension does`);
    walk(program, ({ node }) => {
      const name = segmentsOf(textOf(node) ?? "").find((segment) => names.has(segment));
      if (name !== undefined && OTHER_MEANINGS[path]?.includes(name) !== true) report(lineAt(node.start), name);
    });
    for (const { specifier, line } of importsOf(source)) {
      const target = specifier?.startsWith(".") === true ? posix.join(posix.dirname(path), specifier) : "";
      if (KIND_FILES.test(target)) report(line, target);
    }
    return found;
  });
}

function textOf(node: Node): string | undefined {
  if (node.type === "TemplateElement") return node.value.raw;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** "pods" of "/api/v1/pods". An import is checked by its target instead. */
function segmentsOf(text: string): readonly string[] {
  return text.startsWith(".") ? [] : text.split("/");
}
