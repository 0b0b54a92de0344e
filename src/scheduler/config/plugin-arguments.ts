/**
 * Reads the arguments of plugins (`pluginConfig`) with each plugin's own reader, and prefixes its errors with the document path. Arguments
 * of unknown plugins are ignored, as upstream: a configuration may be shared with schedulers that have them.
 */
import { child, describeFieldError, duplicate, element } from "../../api/machinery/field-error.ts";
import type { Json } from "../../api/machinery/object.ts";
import type { PluginFactory } from "../framework/plugin.ts";
import { CONFIGURATION_API_VERSION } from "./written-configuration.ts";

type Written = { readonly name?: string; readonly args?: Json };

/** Format of an error about a field, after its path; everything else concerns the arguments as a whole. */
const ABOUT_A_FIELD = /^[\w.[\]]+: (?:Invalid|Required|Duplicate|Unsupported|Not found|Forbidden|Too |Internal)/;

/** `at`: "profiles[0]". */
export function readPluginArguments(
  pluginConfig: readonly Written[],
  at: string,
  factories: ReadonlyMap<string, PluginFactory>,
): { readonly read: ReadonlyMap<string, unknown>; readonly problems: readonly string[] } {
  const read = new Map<string, unknown>();
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [index, { name = "", args }] of pluginConfig.entries()) {
    const place = element(child(at, "pluginConfig"), index);
    if (seen.has(name)) problems.push(describeFieldError(duplicate(place, name)));
    seen.add(name);
    const factory = factories.get(name);
    if (factory?.readArguments === undefined) continue;
    const wrongKind = kindProblem(name, args);
    const answer = factory.readArguments(args);
    if (wrongKind !== undefined) problems.push(`decoding .${place}: ${wrongKind}`);
    else if (answer.ok) read.set(name, answer.arguments);
    else problems.push(...answer.problems.map((problem) => placed(problem, place, name)));
  }
  return { read, problems };
}

/** Arguments may state their kind; then it must match. */
function kindProblem(name: string, args: Json | undefined): string | undefined {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined;
  const { apiVersion = CONFIGURATION_API_VERSION, kind = `${name}Args` } = args as { readonly apiVersion?: Json; readonly kind?: Json };
  if (apiVersion === CONFIGURATION_API_VERSION && kind === `${name}Args`) return undefined;
  const said = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
  return `decoding args for plugin ${name}: ${said}: it should be a ${name}Args of ${CONFIGURATION_API_VERSION}`;
}

function placed(problem: string, place: string, name: string): string {
  if (ABOUT_A_FIELD.test(problem)) return `${place}.args.${problem}`;
  const strict = problem.startsWith("unknown field") ? "strict decoding error: " : "";
  return `decoding .${place}: ${strict}decoding args for plugin ${name}: ${strict}${problem}`;
}
