/** One subject of commits.ts in its own process. */
import { join } from "node:path";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { openEmbeddedStore } from "../../src/store/embedded/embedded-store.ts";
import { collectGarbage, serve } from "../serve.ts";
import { openBareAppend } from "./bare-append.ts";
import { openBareLmdb } from "./bare-lmdb.ts";
import { createIn, loadOf, type Create, type LoadOptions, type LoadResult } from "./load.ts";

export type SubjectName = "embedded" | "lmdb" | "append";

let load: ((options: LoadOptions) => Promise<LoadResult>) | undefined;

const tasks = {
  async open({ subject, directory }: { readonly subject: SubjectName; readonly directory: string }): Promise<void> {
    load = loadOf(await openSubject(subject, directory));
  },

  async load(options: LoadOptions): Promise<LoadResult> {
    if (load === undefined) throw new Error("Cannot load the subject: it is not open");
    collectGarbage();
    return load(options);
  },
};
export type CommitsTasks = typeof tasks;
serve(tasks);

async function openSubject(subject: SubjectName, directory: string): Promise<Create> {
  switch (subject) {
    case "embedded":
      return createIn(await openEmbeddedStore({ directory: join(directory, "embedded"), clock: realClock, log: silentLogger }));
    case "lmdb":
      return openBareLmdb(join(directory, "bare.mdb"));
    case "append":
      return openBareAppend(join(directory, "bare.log"));
  }
}
