/**
 * The question of a lesson's step to the cluster, a fenced block:
 *
 *     ```check pods -l app=web
 *     objects.size() == 3 && objects.all(pod, pod.status.phase == "Running")
 *     ```
 *
 * The line names an object (`deployment/web`) or all of a kind, optionally with `-l SELECTOR` and `-n NAMESPACE`; the text is an expression
 * of the Common Expression Language over `object` (null if it does not exist) or `objects`. A field that does not exist yet makes the
 * answer no.
 */
import { isReason } from "../../api/machinery/status-error.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { compile } from "../../cel/compile.ts";
import type { Program } from "../../cel/contract.ts";
import { createEnvironment } from "../../cel/environment.ts";
import { DYN, listOf } from "../../cel/types/type.ts";
import { dynValue, toJson } from "../../cel/values/json.ts";
import type { ClusterApi } from "../../dashboard/data/cluster-api.ts";
import { pathOf, type Kind } from "../../dashboard/data/kinds.ts";
import { NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG } from "../prompt/flags.ts";
import { resourceOf } from "../prompt/resources.ts";
import type { CodeBlock } from "./markdown.ts";

export interface Check {
  /** "deployment/web", "pods". */
  readonly reference: string;
  readonly namespace: string;
  readonly selector?: string;
  readonly expression: string;
}

/** Throws if the block does not name exactly one reference. */
export function parseCheck({ info, text }: CodeBlock): Check {
  const { positional, flags } = parseArguments(info.split(/\s+/).slice(1), { ...NAMESPACE_FLAG, ...SELECTOR_FLAG });
  const [reference, ...more] = positional;
  if (reference === undefined || more.length > 0) throw new Error(`Cannot read the check "${info}": it must name one object or one kind`);
  const { selector, namespace = "default" } = flags;
  return { reference, namespace, ...(selector === undefined ? {} : { selector }), expression: text.trim() };
}

const ENVIRONMENT = createEnvironment({ variables: { object: DYN, objects: listOf(DYN) } });

/** Compiled once per expression; lessons have a few dozen. */
const programs = new Map<string, Program>();

function programOf(expression: string): Program {
  const known = programs.get(expression);
  if (known !== undefined) return known;
  const compilation = compile(ENVIRONMENT, expression);
  if (!compilation.ok) throw new Error(`Cannot read the check: ${compilation.message}`);
  programs.set(expression, compilation.program);
  return compilation.program;
}

export async function isFulfilled(check: Check, api: ClusterApi, kinds: readonly Kind[]): Promise<boolean> {
  const [type = "", name] = check.reference.split("/");
  const kind = resourceOf(kinds, type);
  const objects = name === undefined ? await listOfKind(check, api, kind) : [];
  const object = name === undefined ? null : await objectOf(check, api, kind, name);
  return evaluateCheck(check.expression, { object, objects });
}

/** Pure. */
export function evaluateCheck(
  expression: string,
  { object, objects }: { readonly object: unknown; readonly objects: readonly unknown[] },
): boolean {
  const evaluation = programOf(expression).evaluate({ object: dynValue(object), objects: dynValue(objects) });
  return evaluation.ok && toJson(evaluation.value) === true;
}

function inNamespace({ namespace }: Check, kind: Kind): { readonly namespace?: string } {
  return kind.isNamespaced ? { namespace } : {};
}

async function listOfKind(check: Check, api: ClusterApi, kind: Kind): Promise<readonly KubeObject[]> {
  const query = check.selector === undefined ? "" : `?${new URLSearchParams({ labelSelector: check.selector }).toString()}`;
  return (await api.get<{ readonly items: readonly KubeObject[] }>(`${pathOf(kind, inNamespace(check, kind))}${query}`)).items;
}

async function objectOf(check: Check, api: ClusterApi, kind: Kind, name: string): Promise<KubeObject | null> {
  return api.get<KubeObject>(pathOf(kind, { ...inNamespace(check, kind), name })).catch((error: unknown) => {
    if (isReason(error, "NotFound")) return null;
    throw error;
  });
}
