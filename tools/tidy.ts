/**
 * Conventions that readers rely on: no unfinished work, no test that disables the others, an opening comment in every file, named exports
 * only, one file extension. Not here: the machine's clock (purity.ts), imports (layers.ts), sizes (sizes.ts).
 */
import { extname } from "node:path";
import type { Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

/** Node requires a default export here. */
const DEFAULT_EXPORTS_ALLOWED = ["tools/test/reporter.ts"];

/** One sentence per violation, with its file and line. */
export function tidinessViolations(sources: Iterable<Source>): string[] {
  return [...sources].flatMap((source) => [
    ...unfinishedWork(source),
    ...silencingTests(source),
    ...missingOpening(source),
    ...defaultExports(source),
    ...otherEnding(source),
    ...otherHttpServers(source),
  ]);
}

function unfinishedWork({ path, comments, lineAt }: Source): string[] {
  return comments.flatMap(({ value, start }) => {
    const mark = /\b(TODO|FIXME|XXX|HACK)\b/.exec(value);
    return mark === null ? [] : [`${path}:${lineAt(start + mark.index)}: says ${mark[0]}; finish it, or write an issue`];
  });
}

function silencingTests({ path, program, lineAt }: Source): string[] {
  const found: string[] = [];
  walk(program, ({ node }) => {
    const callee = node.type === "CallExpression" ? node.callee : undefined;
    if (callee?.type !== "MemberExpression" || callee.property.type !== "Identifier" || callee.property.name !== "only") return;
    found.push(`${path}:${lineAt(node.start)}: calls only(), which silences all other tests`);
  });
  return found;
}

/** A doc comment, preceded by nothing but a #! line. Tests are described by their titles. */
function missingOpening({ path, text }: Source): string[] {
  if (path.endsWith(".test.ts") || /^(#!.*\n)?\/\*\*/.test(text)) return [];
  return [`${path}:1: does not open with a doc comment that describes it`];
}

function defaultExports({ path, module, lineAt }: Source): string[] {
  if (DEFAULT_EXPORTS_ALLOWED.includes(path)) return [];
  return module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName, start }) => {
      const isDefault = exportName.name === "default" || String(exportName.kind) === "Default";
      return isDefault ? [`${path}:${lineAt(start)}: has a default export; give it a name`] : [];
    }),
  );
}

/** The runner and the rules for test code match `.test.ts`. */
function otherEnding({ path }: Source): string[] {
  if (!path.startsWith("src/") || path.endsWith(".ts")) return [];
  return [`${path}:1: ends in ${extname(path)}; files in src/ must end in .ts to be compiled and tested`];
}

const HTTP_SERVERS = "src/host/http/node-servers.ts";

/** One file sets the header limits of every HTTP server; test servers are exempt. */
function otherHttpServers({ path, module, lineAt }: Source): string[] {
  if (path === HTTP_SERVERS || !path.startsWith("src/") || /(?:^|\/)testing\/|\.test\.ts$/.test(path)) return [];
  return module.staticImports
    .filter(({ moduleRequest, entries }) => /^node:https?2?$/.test(moduleRequest.value) && entries.some(createsServer))
    .map(({ start }) => `${path}:${lineAt(start)}: creates an HTTP server; call ${HTTP_SERVERS}, which decides the limits of headers`);
}

function createsServer({ importName }: { readonly importName: { readonly name?: string | null } }): boolean {
  return importName.name === "createServer" || importName.name === "createSecureServer";
}
