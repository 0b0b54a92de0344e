import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { schedulerConfig } from "./scheduler-config.ts";

function problemsOf(written: object): readonly string[] {
  let message = "";
  throws(
    () => schedulerConfig(written),
    (error: Error) => {
      message = error.message;
      return true;
    },
  );
  return message.split("\n").slice(1);
}

test("problems of every phase are reported at once: format, values, plugin arguments and creation of profiles", () => {
  const written = {
    frob: 1,
    podInitialBackoffSeconds: -1,
    extenders: [{ urlPrefix: "http://127.0.0.1" }],
    profiles: [
      {
        schedulerName: "a",
        percentageOfNodesToScore: 101,
        plugins: {
          score: { enabled: [{ name: "NodeName" }, { name: "Nope", weight: 3 }] },
          bind: { disabled: [{ name: "*" }] },
        },
        pluginConfig: [
          { name: "InterPodAffinity", args: { hardPodAffinityWeight: 200, hardness: 1 } },
          { name: "DefaultPreemption", args: { minCandidateNodesPercentage: "all" } },
        ],
      },
      { schedulerName: "a", plugins: { filter: { enabled: [{ name: "AlsoNope" }] } } },
    ],
  };

  const making = "  initializing profiles: creating profile for scheduler name a: ";
  const decoding = (index: number) => `  decoding .profiles[0].pluginConfig[${index}]: `;
  deepEqual(problemsOf(written), [
    '  strict decoding error: unknown field "frob"',
    "  profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    `${decoding(0)}strict decoding error: decoding args for plugin InterPodAffinity: strict decoding error: unknown field "hardness"`,
    "  profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 200: not in valid range [0, 100]",
    `${decoding(1)}decoding args for plugin DefaultPreemption: json: cannot unmarshal string into Go struct field DefaultPreemptionArgs.minCandidateNodesPercentage of type int32`,
    '  profiles[1].schedulerName: Duplicate value: "a"',
    "  podInitialBackoffSeconds: Invalid value: -1: must be greater than 0",
    "  extenders: Forbidden: there are no extenders here: make it a plugin, or run the scheduler that has them under a schedulerName of its own",
    `${making}ScorePlugin "Nope" does not exist`,
    `${making}plugin "NodeName" does not extend ScorePlugin plugin`,
    `${making}at least one bind plugin is needed for profile with scheduler name "a"`,
    `${making}FilterPlugin "AlsoNope" does not exist`,
  ]);
});
