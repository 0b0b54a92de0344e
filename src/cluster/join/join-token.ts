/**
 * The bootstrap token of a join, from --token, a file or standard input. All users of a machine can read the arguments of its processes, so
 * that a node in the background, whose command line would show the token for as long as it runs, gets it through a pipe.
 */
import { parseBootstrapToken, type BootstrapTokenParts } from "../../api/core/v1/secret/bootstrap-token.ts";
import { readFileFlag } from "../../cli/framework/file-flag.ts";
import type { SecretInput } from "../../host/processes/detached-self.ts";
import { standardInput } from "../../host/processes/standard-input.ts";
import { TOKEN_EXPECTED, type JoinOptions } from "./join-options.ts";

const STANDARD_INPUT = "-";
/** A token has 23 characters; more than this is another file. */
const INPUT_BYTES_MAX = 4_096;

type TokenOptions = Pick<JoinOptions, "token" | "tokenFile">;

/** True if the command line has a token, whether it can be read or not. */
export function hasToken({ token, tokenFile }: TokenOptions): boolean {
  return token !== undefined || tokenFile !== undefined;
}

/** Undefined: none was given. Rejects if the file has none. */
export async function readToken({ token, tokenFile }: TokenOptions): Promise<BootstrapTokenParts | undefined> {
  if (token !== undefined || tokenFile === undefined) return token;
  const text = tokenFile === STANDARD_INPUT ? await readInput() : await readFileFlag(tokenFile, "--token-file");
  const parsed = parseBootstrapToken(text.trim());
  // The content is not quoted: it may be another secret.
  if (parsed === undefined)
    throw new Error(
      `Cannot read a bootstrap token from ${tokenFile === STANDARD_INPUT ? "standard input" : tokenFile}: --token-file must have ${TOKEN_EXPECTED}`,
    );
  return parsed;
}

async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of standardInput()) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > INPUT_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** What the background process gets through a pipe. Undefined: nothing, it can read the file itself. */
export async function secretInput(options: TokenOptions): Promise<SecretInput | undefined> {
  if (options.token === undefined && options.tokenFile !== STANDARD_INPUT) return undefined;
  const token = await readToken(options);
  return token === undefined ? undefined : { text: `${token.id}.${token.secret}\n`, withoutSecret: withoutToken };
}

/** Arguments of the same command that reads the token from standard input. */
export function withoutToken(words: readonly string[]): readonly string[] {
  const kept = words.filter((word, index) => !TOKEN_FLAG.test(word) && !TOKEN_FLAG_ALONE.test(words[index - 1] ?? ""));
  return [...kept, `--token-file=${STANDARD_INPUT}`];
}

const TOKEN_FLAG = /^--token(-file)?(=|$)/;
const TOKEN_FLAG_ALONE = /^--token(-file)?$/;
