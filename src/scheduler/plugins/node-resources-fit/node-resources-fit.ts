/**
 * NodeResourcesFit: a Pod is placed only where its requests are free, and preferably on nodes that the scoring strategy prefers. Not here:
 * extended resources that devices provide (dynamic-resources), neither their allocation nor their share in scores.
 */
import { isExtendedResource } from "../../../api/core/v1/pod/validation/resources.ts";
import type { DeviceView } from "../../framework/device-view.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginContext, PluginFactory, PreFilterAnswer, PreScoreAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { requestsOf, type PodRequests } from "../../framework/pod-requests.ts";
import { resourceAmount, type ScoredResource } from "../../framework/scored-resources.ts";
import { readFitArguments, type FitArguments } from "./arguments.ts";
import { demandOf, insufficiency, type Demand, type ResourceRules } from "./insufficiency.ts";
import { retryRules } from "./retry-rules.ts";
import { scorerOf } from "./scoring-strategy.ts";

const NAME = "NodeResourcesFit";

export const nodeResourcesFit: PluginFactory<FitArguments> = {
  name: NAME,
  readArguments: readFitArguments,
  make: ({ cluster }: PluginContext, args: FitArguments) => makePlugin(args, cluster.devices),
};

/** The scoring state is the Pod's requests, in the order of the strategy's resources. */
function makePlugin(
  { ignoredResources, ignoredResourceGroups, scoringStrategy }: FitArguments,
  devices: Pick<DeviceView, "classOfResource">,
): Plugin<Demand, readonly number[]> {
  const { resources } = scoringStrategy;
  const scorer = scorerOf(scoringStrategy);
  const names = new Set(ignoredResources);
  const groups = new Set(ignoredResourceGroups);
  const isIgnored = (resource: string): boolean =>
    (names.has(resource) || groups.has(resource.slice(0, resource.indexOf("/")))) && isExtendedResource(resource);
  const rules: ResourceRules = { isIgnored, isByDevices: (resource) => devices.classOfResource(resource) !== undefined };

  return {
    name: NAME,

    retryOn: retryRules(rules),

    preFilter({ requests }: PodInfo): PreFilterAnswer<Demand> {
      return { is: "ready", state: demandOf(requests, rules) };
    },

    filter(demand: Demand, _pod: PodInfo, node: NodeInfo): Rejection | undefined {
      return insufficiency(demand, node);
    },

    preScore(pod: PodInfo): PreScoreAnswer<readonly number[]> {
      return { is: "ready", state: scoredRequests(byContainers(pod), resources) };
    },

    score(requests: readonly number[], _pod: PodInfo, node: NodeInfo): number {
      return scorer(requests, node);
    },
  };
}

function scoredRequests(pod: PodRequests, resources: readonly ScoredResource[]): readonly number[] {
  return resources.map(({ name }) => {
    if (name === "cpu") return pod.nonZeroMilliCpu;
    if (name === "memory") return pod.nonZeroMemoryBytes;
    return resourceAmount(pod.requests, name);
  });
}

/** Upstream scores a Pod by its containers' requests, even with Pod-level ones; only filtering uses those. */
function byContainers(info: PodInfo): PodRequests {
  const { spec } = info.pod;
  if (spec?.resources === undefined) return info;
  const { resources: _ofThePod, ...rest } = spec;
  return requestsOf({ ...info.pod, spec: rest });
}
