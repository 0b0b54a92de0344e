/** `k8ts token create`: creates a bootstrap token and prints the command with which a machine joins. */
import { parseBootstrapToken, type BootstrapTokenParts } from "../../../api/core/v1/secret/bootstrap-token.ts";
import { secrets } from "../../../api/core/v1/secret.ts";
import { parseDuration } from "../../../api/machinery/duration.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { durationMs } from "../../../config/connection-flags.ts";
import { joinCommand } from "../../../cluster/tokens/join-command.ts";
import { openTokenClient, tokenConnection, tokenFlags, type TokenConnection } from "../../../cluster/tokens/token-connection.ts";
import {
  randomToken,
  TOKEN_GROUPS,
  TOKEN_USAGES,
  tokenGroupExpected,
  tokenSecret,
  type TokenOptions,
} from "../../../cluster/tokens/bootstrap-tokens.ts";
import { defineCommand, type Command } from "../../framework/command.ts";
import { oneOf } from "../../framework/flags.ts";
import { expandShortFlags } from "../../framework/short-flags.ts";

interface CreateOptions {
  readonly connection: TokenConnection;
  /** Absent: a random one. */
  readonly given?: BootstrapTokenParts;
  readonly token: TokenOptions;
  readonly isQuiet: boolean;
}

const longCreate = defineCommand({
  description:
    "Create a bootstrap token and print the command with which another machine joins the cluster. A holder of the token can add nodes " +
    "until it expires. The token is a Secret of type bootstrap.kubernetes.io/token in kube-system.",
  flags: {
    ...tokenFlags,
    ttl: {
      type: "string",
      placeholder: "DURATION",
      default: "24h0m0s",
      doc: "Time until the token expires, such as 1h30m. 0 creates a token that never expires.",
      expects: (text) => (isTtl(text) ? undefined : 'a duration such as "24h0m0s", or 0'),
    },
    usages: {
      type: "list",
      placeholder: "USAGE,...",
      doc: `What the token can be used for: ${TOKEN_USAGES.join(", ")}. Default: ${TOKEN_USAGES.join(",")}.`,
      expects: (usage) => (TOKEN_USAGES.some((one) => one === usage) ? undefined : oneOf(TOKEN_USAGES)),
    },
    groups: {
      type: "list",
      placeholder: "GROUP,...",
      doc: `Extra groups of the token. Default: ${TOKEN_GROUPS.join(",")}.`,
      expects: tokenGroupExpected,
    },
    description: { type: "string", placeholder: "TEXT", doc: "What the token is for." },
    "print-join-command": { type: "boolean", doc: "Print the join command. That is the default; the flag exists as in kubeadm." },
    quiet: { type: "boolean", doc: "Print only the token. Short form: -q." },
  },
  arguments: {
    token: { doc: "Token to create, such as one of k8ts token generate. Default: a random one.", optional: true },
  },
  examples: ["k8ts token create", "k8ts token create --ttl 1h --description 'worker in rack 7'", "k8ts token create --quiet"],

  options(values, environment) {
    const connection = tokenConnection(values, environment);
    const given = values.token === undefined ? undefined : parseBootstrapToken(values.token);
    const problems = [
      ...(connection.ok ? [] : connection.problems),
      ...(values.token !== undefined && given === undefined ? ["TOKEN must have the form abcdef.0123456789abcdef"] : []),
      ...(values.quiet && values["print-join-command"]
        ? ["--quiet and --print-join-command are mutually exclusive: leave one of them out"]
        : []),
    ];
    if (!connection.ok || problems.length > 0) return { ok: false, problems };
    const { usages, groups, description, quiet: isQuiet } = values;
    const token = {
      ttlMs: durationMs(values.ttl),
      usages: usages.length === 0 ? TOKEN_USAGES : usages,
      groups: groups.length === 0 ? TOKEN_GROUPS : groups,
      description,
    };
    return { ok: true, options: { connection: connection.options, token, isQuiet, ...(given === undefined ? {} : { given }) } };
  },

  async run({ connection, given, token: options, isQuiet }: CreateOptions, io) {
    await using opened = await openTokenClient(connection, io);
    const parts = given ?? randomToken();
    const token = `${parts.id}.${parts.secret}`;
    await opened.client.create(secrets, tokenSecret(parts, options, io.clock.now())).catch((error: unknown) => {
      if (!isReason(error, "AlreadyExists")) throw error;
      throw new Error(`Cannot create token ${parts.id}: it already exists; delete it with "k8ts token delete ${parts.id}"`, {
        cause: error,
      });
    });
    if (isQuiet) return io.out(token);
    const { command, problem } = await joinCommand(opened.client, token);
    io.out(command);
    if (problem !== undefined) io.note(`Warning: ${problem}`);
  },
});

function isTtl(text: string): boolean {
  try {
    return parseDuration(text) >= 0n;
  } catch {
    return false;
  }
}

export const tokenCreate: Command<CreateOptions> = {
  ...longCreate,
  parse: (argv, environment) => longCreate.parse(expandShortFlags(argv, { q: "quiet" }), environment),
};
