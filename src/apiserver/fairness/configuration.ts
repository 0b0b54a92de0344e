/**
 * Builds priority levels and a classifier from the FlowSchemas and PriorityLevelConfigurations (upstream: lockAndDigestConfigObjects).
 * Mandatory objects are substituted where they are missing or invalid; a level whose object is deleted drains before it is removed.
 */
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { builtInFlowSchemas, builtInPriorityLevels } from "../../api/flowcontrol.apiserver.k8s.io/v1/built-in.ts";
import { byPrecedence, Classifier } from "./classifier.ts";
import { EXEMPT_LEVEL, Level, levelProblem, specOf } from "./level.ts";
import { nominalLimits, sharesOf } from "./limits.ts";

export const CATCH_ALL = "catch-all";

export interface ConfigurationObjects {
  readonly levels: readonly PriorityLevelConfiguration[];
  readonly schemas: readonly FlowSchema[];
}

export interface Configuration {
  readonly levels: ReadonlyMap<string, Level>;
  readonly classifier: Classifier;
}

export interface DigestOptions {
  readonly serverTotal: number;
  readonly nowMs: number;
  /** An invalid object, and why. */
  ignored(kind: string, name: string, problem: string): void;
}

export function digest(objects: ConfigurationObjects, before: ReadonlyMap<string, Level>, options: DigestOptions): Configuration {
  const wanted = usableLevels(objects.levels, options);
  const levels = new Map<string, Level>();
  for (const object of wanted.values()) levels.set(object.metadata.name, kept(object, before, options.nowMs));
  const classifier = new Classifier(orderedSchemas(objects.schemas, levels), CATCH_ALL);
  for (const [name, level] of before) {
    if (levels.has(name) || level.queueSet.isIdle) continue;
    level.isQuiescing = true;
    levels.set(name, level);
  }
  share(levels, options.serverTotal);
  forgetUnused(levels, objects.schemas);
  return { levels, classifier };
}

function usableLevels(
  objects: readonly PriorityLevelConfiguration[],
  { ignored }: DigestOptions,
): ReadonlyMap<string, PriorityLevelConfiguration> {
  const usable = new Map<string, PriorityLevelConfiguration>();
  for (const object of objects) {
    const problem = levelProblem(object);
    if (problem === undefined) usable.set(object.metadata.name, object);
    else ignored("PriorityLevelConfiguration", object.metadata.name, problem);
  }
  for (const { object, mandatory } of builtInPriorityLevels) {
    if (mandatory && !usable.has(object.metadata.name)) usable.set(object.metadata.name, object);
  }
  return usable;
}

function kept(object: PriorityLevelConfiguration, before: ReadonlyMap<string, Level>, nowMs: number): Level {
  const level = before.get(object.metadata.name) ?? new Level(object, nowMs);
  level.object = object;
  level.isQuiescing = false;
  return level;
}

/** FlowSchemas with an existing level, in matching order; exempt first and catch-all last where their objects are missing. */
function orderedSchemas(schemas: readonly FlowSchema[], levels: ReadonlyMap<string, Level>) {
  const usable = schemas.filter((schema) => levels.has(levelNameOf(schema))).toSorted(byPrecedence);
  const names = new Set(usable.map(({ metadata }) => metadata.name));
  const missing = (name: string) =>
    names.has(name)
      ? []
      : builtInFlowSchemas.flatMap(({ object, mandatory }) => (mandatory && object.metadata.name === name ? [object] : []));
  const all = [...missing(EXEMPT_LEVEL), ...usable, ...missing(CATCH_ALL)];
  return all.map((schema) => ({ schema, level: levels.get(levelNameOf(schema)) as Level }));
}

export function levelNameOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration.name ?? "";
}

function share(levels: ReadonlyMap<string, Level>, serverTotal: number): void {
  let shareSum = 0;
  for (const { object } of levels.values()) shareSum += sharesOf(specOf(object));
  for (const level of levels.values()) {
    level.setNominal(nominalLimits(specOf(level.object), shareSum, serverTotal));
    const { nominal, min } = level.limits;
    if (level.isNew) level.currentLimit = nominal - Math.trunc((nominal - min) / 2);
  }
}

/** Statistics of deleted FlowSchemas are dropped with their last request: names are chosen by clients and unbounded. */
function forgetUnused(levels: ReadonlyMap<string, Level>, schemas: readonly FlowSchema[]): void {
  const used = new Set([EXEMPT_LEVEL, CATCH_ALL, ...schemas.map(({ metadata }) => metadata.name)]);
  for (const { flowStatistics } of levels.values()) {
    for (const [name, statistics] of flowStatistics) if (!used.has(name) && statistics.isIdle) flowStatistics.delete(name);
  }
}
