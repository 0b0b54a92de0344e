/**
 * Finds all ways in which a file refers to another: import and `export … from` (of types and for side effects too), `import()`,
 * `import("x").Type`, `import x = require()`, require and createRequire. A computed target is undefined, and the caller decides how to
 * treat it.
 */
import type { Expression, Node } from "oxc-parser";
import type { Source } from "./source.ts";
import { walk } from "./walk.ts";

export interface Import {
  readonly how: "import" | "export" | "dynamic import" | "type import" | "require";
  /** As written; undefined if computed. */
  readonly specifier: string | undefined;
  readonly line: number;
}

export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  walk(source.program, ({ node }) => {
    const reach = reachOf(node);
    if (reach !== undefined) found.push({ ...reach, line: source.lineAt(node.start) });
  });
  return found;
}

function reachOf(node: Node): Omit<Import, "line"> | undefined {
  switch (node.type) {
    case "ImportDeclaration":
      return { how: "import", specifier: node.source.value };
    case "ExportAllDeclaration":
      return { how: "export", specifier: node.source.value };
    case "ExportNamedDeclaration":
      return node.source === null ? undefined : { how: "export", specifier: node.source.value };
    case "ImportExpression":
      return { how: "dynamic import", specifier: literal(node.source) };
    case "TSImportType":
      return { how: "type import", specifier: node.source.value };
    case "TSExternalModuleReference":
      return { how: "require", specifier: node.expression.value };
    case "CallExpression":
      return isRequire(node.callee) ? { how: "require", specifier: argument(node.arguments[0]) } : undefined;
    default:
      return undefined;
  }
}

/** `require(x)`, `createRequire(x)`, `module.require(x)`, `process.getBuiltinModule(x)`. */
function isRequire(callee: Expression): boolean {
  const name =
    callee.type === "Identifier"
      ? callee.name
      : callee.type === "MemberExpression" && callee.property.type === "Identifier"
        ? callee.property.name
        : "";
  return name === "require" || name === "createRequire" || name === "getBuiltinModule";
}

function argument(node: Node | undefined): string | undefined {
  return node === undefined ? undefined : literal(node);
}

function literal(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}
