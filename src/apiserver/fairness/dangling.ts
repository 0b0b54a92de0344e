/** The Dangling condition of a FlowSchema: whether its priority level is missing. Upstream's messages. */
import type { FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { levelNameOf } from "./configuration.ts";
import { levelProblem } from "./level.ts";

const TYPE = "Dangling";

/** Without its timestamp. */
export type DanglingCondition = Required<Omit<FlowSchemaCondition, "lastTransitionTime">>;

/** Levels with a valid object. */
export function usableLevelNames(levels: Iterable<PriorityLevelConfiguration>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const level of levels) if (levelProblem(level) === undefined) names.add(level.metadata.name);
  return names;
}

export function danglingCondition(schema: FlowSchema, levels: ReadonlySet<string>): DanglingCondition {
  const level = levelNameOf(schema);
  const reference = `This FlowSchema references the PriorityLevelConfiguration object named ${quoteGo(level)}`;
  return levels.has(level)
    ? { type: TYPE, status: "False", reason: "Found", message: `${reference} and it exists` }
    : { type: TYPE, status: "True", reason: "NotFound", message: `${reference} but there is no such object` };
}

export function isSameCondition({ status }: FlowSchema, wanted: DanglingCondition): boolean {
  const found = status?.conditions?.find(({ type }) => type === TYPE);
  return found !== undefined && found.status === wanted.status && found.reason === wanted.reason && found.message === wanted.message;
}
