/** `tidegate evict`, `evictions` and `explain` against a cluster, with what they print. */
import { runEvict } from '../../../src/cli/evictions/evict.ts';
import { runEvictions } from '../../../src/cli/evictions/evictions.ts';
import type {
  EvictionsRequest,
  EvictRequest,
} from '../../../src/cli/evictions/evictions-request.ts';
import { runExplain } from '../../../src/cli/explain/explain.ts';
import type { EvictionsApiOption } from '../../../src/domain/native-evictions/evictions-api.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { DRAIN } from './request-fixture.ts';
import { PLAIN_TERMINAL } from '../terminal/plain-terminal.ts';

const written = () => {
  const output = { stdout: '', stderr: '' };
  const terminal = {
    print: (text: string) => void (output.stdout += text),
    report: (line: string) => void (output.stderr += `${line}\n`),
    ...PLAIN_TERMINAL,
  };
  return { output, terminal };
};

/** The commands against one cluster. */
export const evictionCommands = (
  kubeconfig: string,
  { api = 'auto' }: { readonly api?: EvictionsApiOption } = {},
) => {
  const evict = (pod: string, more: Partial<EvictRequest> = {}) => {
    const { output, terminal } = written();
    const request: EvictRequest = {
      pod,
      namespace: undefined,
      requester: DRAIN,
      wait: false,
      timeout: undefined,
      cancel: false,
      format: 'text',
      kubeconfig,
      context: undefined,
      api,
      ...more,
    };
    const ended = runEvict(request, { terminal, time: realTime });
    return { output, ended, run: ended.then((code) => ({ code, ...output })) };
  };
  const evictions = async (more: Partial<EvictionsRequest> = {}) => {
    const { output, terminal } = written();
    const code = await runEvictions({
      namespace: undefined,
      allNamespaces: false,
      selector: undefined,
      format: 'table',
      watch: false,
      kubeconfig,
      context: undefined,
      api,
      ...more,
    }, { terminal, time: realTime });
    return { code, ...output };
  };
  const explain = async (kind: string, name: string) => {
    const { output, terminal } = written();
    const common = { namespace: undefined, format: 'text', kubeconfig, context: undefined };
    const code = await runExplain({ kind, name, ...common }, terminal, realTime);
    return { code, ...output };
  };
  return { evict, evictions, explain };
};
