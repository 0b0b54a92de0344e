/**
 * Classifies a request: the first FlowSchema that matches, its priority level, and the queues of its flow distinguisher. The rules that
 * apply to a user are computed once per user; a request is then compared with those few rules only. A classifier is valid for one state of
 * the objects: a change replaces it by a new one with empty caches.
 */
import { assert } from "../../base/assert.ts";
import { Lru } from "../../base/lru.ts";
import type { FlowSchema, PolicyRulesWithSubjects } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { deal, hashOfFlow } from "./dealer.ts";
import { flowNamespaceOf, type FlowRequest, type FlowUser } from "../framework/flow-request.ts";
import { queueSetConfig, specOf, type Level } from "./level.ts";
import { matchesAnySubject, matchesRequest } from "./matching.ts";
import type { FlowStatistics } from "./statistics.ts";
import type { QueuedFlow } from "./ticket.ts";
import type { FlowHeaders, RequestFlow } from "../framework/concurrency.ts";

export interface Flow extends QueuedFlow, RequestFlow {
  /** Unique among all flows. */
  readonly key: string;
  readonly level: Level;
  /** The classifier that found it. */
  readonly classifier: Classifier;
}

/** Maximum flows per FlowSchema with cached queues; others are dealt again each time. */
const FLOWS_MAX = 4_096;

interface Candidate {
  readonly name: string;
  readonly schema: FlowSchema;
  readonly level: Level;
  readonly headers: FlowHeaders;
  readonly statistics: FlowStatistics;
  readonly flows: Lru<string, Flow>;
}

/** A rule of a FlowSchema whose subjects include the user. */
interface UserRule {
  readonly candidate: Candidate;
  readonly rule: PolicyRulesWithSubjects;
}

export class Classifier {
  readonly #candidates: readonly Candidate[];
  readonly #byUser = new WeakMap<FlowUser, readonly UserRule[]>();

  /** No match: impossible while the mandatory objects are intact. */
  readonly #fallback: Candidate;

  /** `schemas` in matching order, each with its level; the one called `fallback` takes requests that match no other. */
  constructor(schemas: readonly { readonly schema: FlowSchema; readonly level: Level }[], fallback: string) {
    this.#candidates = schemas.map(({ schema, level }) => ({
      name: schema.metadata.name,
      schema,
      level,
      headers: {
        "x-kubernetes-pf-flowschema-uid": schema.metadata.uid ?? "",
        "x-kubernetes-pf-prioritylevel-uid": level.object.metadata.uid ?? "",
      },
      statistics: level.statisticsOf(schema.metadata.name),
      flows: new Lru<string, Flow>({ max: FLOWS_MAX }),
    }));
    const found = this.#candidates.find(({ name }) => name === fallback);
    assert(found !== undefined, "the configuration has the mandatory FlowSchemas");
    this.#fallback = found;
  }

  /** Hot path (called per request): allocates only for new users and flows. */
  classify(request: FlowRequest): Flow {
    const { user } = request.context;
    const rules = this.#byUser.get(user) ?? this.#rulesOf(user);
    for (const { candidate, rule } of rules) if (matchesRequest(request, rule)) return this.#flowOf(candidate, request);
    return this.#flowOf(this.#fallback, request);
  }

  #rulesOf(user: FlowUser): readonly UserRule[] {
    const rules = this.#candidates.flatMap((candidate) =>
      (candidate.schema.spec?.rules ?? [])
        .filter(({ subjects }) => matchesAnySubject(user, subjects))
        .map((rule): UserRule => ({ candidate, rule })),
    );
    this.#byUser.set(user, rules);
    return rules;
  }

  #flowOf(candidate: Candidate, request: FlowRequest): Flow {
    const distinguisher = distinguisherOf(candidate, request);
    const known = candidate.flows.get(distinguisher);
    if (known !== undefined) return known;
    const { name, level, headers, statistics } = candidate;
    const { queues, handSize } = queueSetConfig(specOf(level.object));
    const hand = queues > 0 ? deal(hashOfFlow(name, distinguisher), { deckSize: queues, handSize }) : [];
    const flow: Flow = {
      flowSchema: name,
      distinguisher,
      key: `${name}\n${distinguisher}`,
      hand,
      statistics,
      level,
      headers,
      classifier: this,
    };
    candidate.flows.set(distinguisher, flow);
    return flow;
  }
}

/** "" where all requests of a FlowSchema are one flow. Upstream computes none for levels without queues. */
function distinguisherOf({ schema, level }: Candidate, request: FlowRequest): string {
  switch (schema.spec?.distinguisherMethod?.type) {
    case "ByUser":
      return level.isExempt ? "" : request.context.user.name;
    case "ByNamespace":
      return level.isExempt ? "" : flowNamespaceOf(request);
    default:
      return "";
  }
}

/** Matching order: lowest precedence value first, then by name. */
export function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  const [first, second] = [a.spec?.matchingPrecedence ?? 0, b.spec?.matchingPrecedence ?? 0];
  return first - second || (a.metadata.name < b.metadata.name ? -1 : 1);
}
