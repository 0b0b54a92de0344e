/**
 * Determines which identifiers are values, and which of them a file declares itself: a parameter called `fetch` shadows the global inside
 * its function only. Where the scoping rules are complex, scopes are narrower than in the language (a `var` only in its block, a name of
 * one `case` not in the next), so that a check may report a global too many and never one too few.
 */
import type { Node } from "oxc-parser";
import type { Source } from "./source.ts";
import { walk, type Visit } from "./walk.ts";

/** Wrappers of an expression; other nodes of TypeScript are types, or rejected by the compiler here (enum, namespace). */
const WITH_EXPRESSION = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion", "TSInstantiationExpression"];

export function isOnlyType(node: Node): boolean {
  return node.type.startsWith("TS") && !WITH_EXPRESSION.includes(node.type);
}

/** True if an identifier refers to a value, and is not the name of a member, a key or a label. */
export function isReference({ parent, field }: Visit): boolean {
  switch (parent?.type) {
    case "MemberExpression":
      return field === "object" || parent.computed;
    case "Property":
      // In `{ crypto }` key and value are the same identifier; it counts as the value.
      return field === "value" || parent.computed;
    case "PropertyDefinition":
    case "MethodDefinition":
    case "AccessorProperty":
      return field === "value" || (field === "key" && parent.computed);
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "ImportSpecifier":
    case "ExportSpecifier":
    case "MetaProperty":
      return false;
    default:
      return true;
  }
}

/** Returns a predicate: whether a name at an offset is declared by the file. */
export function declarationsIn(source: Source): (name: string, offset: number) => boolean {
  const scopes = new Map<string, Node[]>();
  walk(source.program, ({ node }) => {
    if (isOnlyType(node)) return "skip";
    for (const name of knownInside(node).flatMap(namesIn)) scopes.set(name, [...(scopes.get(name) ?? []), node]);
    return undefined;
  });
  return (name, offset) => scopes.get(name)?.some(({ start, end }) => start <= offset && offset < end) ?? false;
}

/** Patterns that a node declares for its own content. */
function knownInside(node: Node): readonly (Node | null)[] {
  switch (node.type) {
    case "Program":
    case "BlockStatement":
    case "StaticBlock":
      return node.body.flatMap(declaredBy);
    case "SwitchCase":
      return node.consequent.flatMap(declaredBy);
    case "ForStatement":
      return declaredBy(node.init);
    case "ForInStatement":
    case "ForOfStatement":
      return declaredBy(node.left);
    case "FunctionDeclaration":
    case "FunctionExpression":
      return [node.id, ...node.params];
    case "ArrowFunctionExpression":
      return node.params;
    case "ClassExpression":
      return [node.id];
    case "CatchClause":
      return [node.param];
    default:
      return [];
  }
}

/** Patterns that a statement declares for its block. `declare` declares nothing that exists. */
function declaredBy(statement: Node | null): readonly (Node | null)[] {
  switch (statement?.type) {
    case "VariableDeclaration":
      return statement.declare === true ? [] : statement.declarations.map(({ id }) => id);
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return statement.declare === true ? [] : [statement.id];
    case "ImportDeclaration":
      return statement.specifiers.map(({ local }) => local);
    case "ExportNamedDeclaration":
      return declaredBy(statement.declaration);
    default:
      return [];
  }
}

function namesIn(pattern: Node | null): readonly string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => namesIn(property.type === "Property" ? property.value : property));
    case "ArrayPattern":
      return pattern.elements.flatMap(namesIn);
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}
