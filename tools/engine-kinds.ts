/**
 * The engine of the API server is generic: it names no kind. What a kind needs comes from its definition (src/api/machinery/resource.ts) or
 * its extension (src/apiserver/resources/<kind>), so that a custom resource is served by the same code.
 */
import { isIn } from "./layers.ts";
import { isTestCode, type Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

const ENGINE = ["framework", "limits", "pipeline", "rest", "storage", "verbs", "watch", "write"].map((room) => `src/apiserver/${room}`);

/** Strings that are spelled like a kind and mean something else. */
const OTHER_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  // A segment of the grammar of paths.
  "src/apiserver/framework/access/request-path.ts": ["namespaces"],
  // An authorization mode.
  "src/apiserver/framework/api-server-config.ts": ["Node"],
  // A path parameter in upstream's error message.
  "src/apiserver/verbs/verbs.ts": ["Namespace"],
};

export interface KindNames {
  readonly kind: string;
  readonly plural: string;
}

/** One sentence per string that is the kind or plural of a resource, with its file and line. */
export function engineKindViolations(sources: Iterable<Source>, resources: readonly KindNames[]): string[] {
  const names = new Set(resources.flatMap(({ kind, plural }) => [kind, plural]));
  return [...sources].flatMap((source) => {
    const { path, program, lineAt } = source;
    if (isTestCode(path) || !ENGINE.some((room) => isIn(room, path))) return [];
    const found: string[] = [];
    walk(program, ({ node }) => {
      if (node.type !== "Literal" || typeof node.value !== "string" || !names.has(node.value)) return;
      if (OTHER_MEANINGS[path]?.includes(node.value) === true) return;
      found.push(`${path}:${lineAt(node.start)}: names ${node.value}; the engine knows no kind, its definition or extension does`);
    });
    return found;
  });
}
