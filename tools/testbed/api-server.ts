/** The lifecycle of the API server: started, ready, stopped and restarted on the same port. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './control-plane.ts';
import { issuerOf } from './credentials.ts';
import { accepts } from './ports.ts';
import type { Program, Supervised } from './processes.ts';
import { type Programs, untilStarted } from './programs.ts';
import type { AskApiServer } from './requests.ts';
import { eventually } from './waiting.ts';

/** How to probe its readiness. */
export interface Access {
  readonly layout: Layout;
  readonly ask: AskApiServer;
}

const OK = 200;

/** One API server. It is stateless: all data is in etcd. */
export class ApiServer {
  readonly #programs: Programs;
  readonly #program: Program;
  readonly #access: Access;
  #child: Supervised | undefined;

  constructor(programs: Programs, program: Program, access: Access) {
    this.#programs = programs;
    this.#program = program;
    this.#access = access;
  }

  /** Starts it, unless it runs, and waits until it accepts connections. */
  async start(): Promise<void> {
    if (this.isRunning()) return;
    this.#child = this.#programs.start(this.#program);
    await this.#until('to listen', () => accepts(this.#access.layout.serverPort));
  }

  /** Waits until it is ready. */
  async ready(): Promise<void> {
    await this.#until('to be ready', async () => {
      const { status, body } = await this.#access.ask({ path: '/readyz' });
      if (status !== OK) throw new Error(body.trim());
      return true;
    });
  }

  /** The authority that signed its certificate, which it made at its first start. */
  async authority(): Promise<string> {
    return issuerOf(
      await readFile(join(this.#access.layout.certificates, 'apiserver.crt'), 'utf8'),
    );
  }

  isRunning(): boolean {
    return this.#child?.isRunning() === true;
  }

  /** Kills it and waits until its port is closed. */
  async stop(): Promise<void> {
    if (this.#child !== undefined) await this.#programs.kill(this.#child);
    await eventually(async () => !(await accepts(this.#access.layout.serverPort)), {
      what: 'the port of the API server to be free',
    });
  }

  async #until(what: string, probe: () => Promise<boolean>): Promise<void> {
    if (this.#child === undefined) throw new Error('the API server has not been started');
    await untilStarted({ program: this.#program, child: this.#child }, what, probe);
  }
}
