/**
 * InterPodAffinity: pod affinity and anti-affinity, per domain: nodes with the same value of the term's topology key. Preferred terms score
 * the remaining nodes.
 *
 * All counts are maintained from cycle to cycle (node-sums.ts); a state is valid until the plugin is called with another snapshot. Upstream
 * behaviour: kube-scheduler plugin "InterPodAffinity".
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { NodeHistory, NodeSums } from "../../framework/node-sums.ts";
import type { Plugin, PluginContext, PluginFactory, PreFilterAnswer, PreScoreAnswer } from "../../framework/plugin.ts";
import type { PodInfo, WeightedAffinityTerm } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";
import { readInterPodAffinityArguments, type InterPodAffinityArguments } from "./arguments.ts";
import { ExistingTerms } from "./existing-terms.ts";
import { affinityState, changeAffinityState, copyAffinityState, filterByAffinity, type AffinityState } from "./filtering.ts";
import { affinityRetryRules } from "./hints.ts";
import { PodCounts } from "./pod-counts.ts";
import { scoreWishes, stretchScores, wishesOfExisting, type Wish } from "./scoring.ts";
import { plainTerm, type PlainTerm } from "./terms.ts";

const NAME = "InterPodAffinity";

export const interPodAffinity: PluginFactory<InterPodAffinityArguments> = {
  name: NAME,
  readArguments: readInterPodAffinityArguments,
  make: (context, args): Plugin<AffinityState, readonly Wish[]> => {
    const facts = new Facts(context, args);
    return {
      name: NAME,
      retryOn: affinityRetryRules(context.cluster),
      preFilter: (pod, snapshot) => preFilter(facts, pod, snapshot),
      filter: (state, _pod, node) => filterByAffinity(state, node),
      copyState: copyAffinityState,
      podAdded: (state, pod, added, node) => changeAffinityState(state, pod, added, node, 1),
      podRemoved: (state, pod, removed, node) => changeAffinityState(state, pod, removed, node, -1),
      preScore: (pod, _nodes, snapshot) => preScore(facts, args, pod, snapshot),
      score: (wishes, _pod, node) => scoreWishes(wishes, node),
      normalizeScores: (_wishes, _pod, scores) => stretchScores(scores),
    };
  },
};

function preFilter(facts: Facts, pod: PodInfo, snapshot: Snapshot): PreFilterAnswer<AffinityState> {
  const namespaceLabels = facts.namespaceLabels(pod.namespace);
  const refusing = facts.refusing(snapshot).covering(pod, namespaceLabels);
  const { requiredAffinity, requiredAntiAffinity } = pod;
  if (requiredAffinity.length === 0 && requiredAntiAffinity.length === 0 && refusing.length === 0) return SKIP;
  const affinity = requiredAffinity.map((term) => facts.plain(term));
  const antiAffinity = requiredAntiAffinity.map((term) => facts.plain(term));
  const friends = affinity.length === 0 ? undefined : facts.podCounts(affinity, snapshot);
  const foes = antiAffinity.map((term) => facts.podCounts([term], snapshot));
  return { is: "ready", state: affinityState(pod, { affinity, antiAffinity, namespaceLabels, friends, foes, refusing }) };
}

function preScore(facts: Facts, args: InterPodAffinityArguments, pod: PodInfo, snapshot: Snapshot): PreScoreAnswer<readonly Wish[]> {
  const { preferredAffinity, preferredAntiAffinity } = pod;
  const hasWishes = preferredAffinity.length > 0 || preferredAntiAffinity.length > 0;
  if (args.ignorePreferredTermsOfExistingPods && !hasWishes) return SKIP;
  const wishes: Wish[] = [];
  for (const { topologyKey, sums } of facts.wishes(snapshot).covering(pod, facts.namespaceLabels(pod.namespace))) {
    wishes.push({ topologyKey, sums, weight: 1 });
  }
  for (const weighted of preferredAffinity) wishes.push(...facts.wishesOf(weighted, 1, snapshot));
  for (const weighted of preferredAntiAffinity) wishes.push(...facts.wishesOf(weighted, -1, snapshot));
  return wishes.some(({ sums }) => sums.size > 0) ? { is: "ready", state: wishes } : SKIP;
}

const SKIP = { is: "skip" } as const;

/** The plugin's view of the cluster. */
class Facts {
  readonly #cluster: PluginContext["cluster"];
  readonly #history = new NodeHistory();
  readonly #podCounts = new NodeSums<PodCounts>(this.#history);
  readonly #refusing = new ExistingTerms(podsThatRefuse, ({ requiredAntiAffinity }, yieldTerm) => {
    for (const term of requiredAntiAffinity) yieldTerm(term, 1);
  });
  readonly #wishes: ExistingTerms;

  constructor({ cluster }: PluginContext, { hardPodAffinityWeight }: InterPodAffinityArguments) {
    this.#cluster = cluster;
    this.#wishes = new ExistingTerms(podsWithAffinity, wishesOfExisting(hardPodAffinityWeight));
  }

  /** Undefined if the namespace does not exist: as good as unlabelled. */
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined {
    return this.#cluster.namespace(name)?.metadata.labels;
  }

  plain(term: PodInfo["requiredAffinity"][number]): PlainTerm {
    return plainTerm(term, () => this.#cluster.namespaces());
  }

  podCounts(terms: readonly PlainTerm[], snapshot: Snapshot): PodCounts {
    const text = terms.map((term) => term.text).join(" & ");
    return this.#podCounts.get(text, snapshot, () => new PodCounts(terms));
  }

  /** Anti-affinity terms of existing Pods. */
  refusing(snapshot: Snapshot): ExistingTerms {
    this.#history.follow(this.#refusing, snapshot);
    return this.#refusing;
  }

  wishes(snapshot: Snapshot): ExistingTerms {
    this.#history.follow(this.#wishes, snapshot);
    return this.#wishes;
  }

  wishesOf({ term, weight }: WeightedAffinityTerm, sign: 1 | -1, snapshot: Snapshot): Wish[] {
    const { byKey } = this.podCounts([this.plain(term)], snapshot);
    return [...byKey].map(([topologyKey, sums]) => ({ topologyKey, sums, weight: sign * weight }));
  }
}

function podsThatRefuse(node: NodeInfo): readonly PodInfo[] {
  return node.podsWithRequiredAntiAffinity;
}

function podsWithAffinity(node: NodeInfo): readonly PodInfo[] {
  return node.podsWithAffinity;
}
