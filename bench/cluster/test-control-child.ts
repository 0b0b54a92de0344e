/** The cluster of test-control.ts, in its own process, as `k8ts up --test-control` has it. */
import { startControlled, TOKEN, type Controlled } from "../../src/testcontrol/testing/controlled.ts";
import { serve } from "../serve.ts";

let controlled: Controlled | undefined;

const tasks = {
  /** Starts the cluster; resolves with the address and the token of test control. */
  async start({ isVirtual }: { readonly isVirtual: boolean }): Promise<{ readonly url: string; readonly token: string }> {
    controlled = await startControlled({ isVirtual, nodes: 3 });
    return { url: controlled.url, token: TOKEN };
  },

  async stop(): Promise<void> {
    await controlled?.[Symbol.asyncDispose]();
  },
};
export type TestControlTasks = typeof tasks;
serve(tasks);
