/** Enforces with one nftables table of the family inet, each change in one transaction. */
import { NftWriter, nftProblem, removeTable } from "../../../host/network/nftables/nft-writer.ts";
import type { EnforcerMode } from "../enforcer.ts";
import { policyTable, tableName } from "./policy-table.ts";

export const nftablesEnforcer: EnforcerMode = {
  name: "nftables",
  problem: nftProblem,
  open(context) {
    const writer = new NftWriter(context.namespace);
    return {
      apply: async (model) => ({ written: await writer.apply(policyTable(model, context)) }),
      isIntact: () => writer.isIntact(),
    };
  },
  cleanUp: ({ owner, namespace }) => removeTable(namespace, { family: "inet", name: tableName(owner) }),
};
