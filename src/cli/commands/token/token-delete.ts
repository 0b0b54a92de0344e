/** `k8ts token delete`: deletes a bootstrap token of a cluster. Nodes that joined with it stay. */
import { secrets } from "../../../api/core/v1/secret.ts";
import {
  BOOTSTRAP_TOKEN_NAMESPACE,
  bootstrapTokenName,
  isBootstrapTokenId,
  parseBootstrapToken,
} from "../../../api/core/v1/secret/bootstrap-token.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { openTokenClient, tokenConnection, tokenFlags } from "../../../cluster/tokens/token-connection.ts";
import { defineCommand } from "../../framework/command.ts";

export const tokenDelete = defineCommand({
  description: "Delete a bootstrap token. Nodes that joined with it are not affected.",
  flags: tokenFlags,
  arguments: { token: { doc: "The token, or its ID: the six characters before the dot." } },
  examples: ["k8ts token delete abcdef", "k8ts token delete abcdef.0123456789abcdef"],

  options(values, environment) {
    const connection = tokenConnection(values, environment);
    const id = parseBootstrapToken(values.token)?.id ?? (isBootstrapTokenId(values.token) ? values.token : undefined);
    const problems = [
      ...(connection.ok ? [] : connection.problems),
      ...(id === undefined && values.token !== "" ? ["TOKEN must have the form abcdef or abcdef.0123456789abcdef"] : []),
    ];
    if (!connection.ok || id === undefined || problems.length > 0) return { ok: false, problems };
    return { ok: true, options: { connection: connection.options, id } };
  },

  async run({ connection, id }, io) {
    await using opened = await openTokenClient(connection, io);
    const key = { namespace: BOOTSTRAP_TOKEN_NAMESPACE, name: bootstrapTokenName(id) };
    await opened.client.delete(secrets, key).catch((error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
      throw new Error(`Cannot delete token ${id}: there is no such token; "k8ts token list" lists them`, { cause: error });
    });
    io.out(`Deleted token ${id}`);
  },
});
