/** kubectl on an embedded cluster with users: `auth can-i`, `--as`, `--token`, certificates. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedKubectl, embeddedKubectl } from '../support/api/embedded-kubectl.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';
import { type Authority, newAuthority } from '../support/processes/certificates.ts';

const TIMEOUT_MS = 300_000;

const USERS = [{ token: 'secret-of-bob', name: 'bob', uid: 'b1', groups: ['devs'] }];

const POLICY = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: only-own}
spec:
  matchConstraints:
    resourceRules:
      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
    - expression: object.metadata.name.startsWith(request.userInfo.username)
      messageExpression: "'must begin with ' + request.userInfo.username"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: only-own}
spec: {policyName: only-own, validationActions: [Deny]}
`;

describeWithBinaries('kubectl on an embedded cluster with users', () => {
  let kubectl: EmbeddedKubectl;
  let folder: string;
  let authority: Authority;
  const certified = async (name: string, issuer: Authority): Promise<string> => {
    const { certificate, key } = issuer.issue({
      commonName: name,
      organizations: ['devs', 'certified'],
      alternativeNames: [],
    });
    const [certificateFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
    await writeFile(certificateFile, certificate);
    await writeFile(keyFile, key);
    return `--client-certificate=${certificateFile} --client-key=${keyFile}`;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidegate-users-'));
    authority = newAuthority('users');
    kubectl = await embeddedKubectl({
      authorization: 'RBAC',
      users: USERS,
      clientAuthority: authority.certificate,
    });
    await kubectl.must('create role reader --verb=get,list --resource=configmaps,pods');
    await kubectl.must('create rolebinding readers --role=reader --group=devs');
  });
  afterAll(async () => {
    await kubectl.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('the kubeconfig is that of an administrator', async () => {
    expect(await kubectl.must('auth whoami -o jsonpath={.status.userInfo.groups}')).toBe(
      '["system:masters","system:authenticated"]',
    );
    expect(await kubectl.must("auth can-i '*' '*'")).toBe('yes\n');
  }, TIMEOUT_MS);

  it('can-i answers for the user and the group that are named', async () => {
    expect(await kubectl.must('auth can-i list pods --as=ann --as-group=devs')).toBe('yes\n');
    const { code, stdout } = await kubectl.run('auth can-i delete pods --as=ann --as-group=devs');
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'no\n' });
    expect((await kubectl.run('auth can-i list pods --as=ann')).stdout).toBe('no\n');
    expect(await kubectl.must('auth can-i --list --as=ann --as-group=devs')).toMatch(
      /configmaps\s+\[\]\s+\[\]\s+\[get list\]/,
    );
  }, TIMEOUT_MS);

  it('a user by token has the rights of its group, and is refused in the usual words', async () => {
    await kubectl.must('get pods --token=secret-of-bob');
    expect((await kubectl.run('delete pod x --token=secret-of-bob')).stderr).toBe(
      'Error from server (Forbidden): pods "x" is forbidden: User "bob" cannot delete resource ' +
        '"pods" in API group "" in the namespace "default"\n',
    );
    expect((await kubectl.run('get pods --token=wrong')).stderr).toContain(
      'You must be logged in to the server (Unauthorized)',
    );
  }, TIMEOUT_MS);

  it('a service account gets a token that counts', async () => {
    await kubectl.must('create serviceaccount robot');
    const token = (await kubectl.must('create token robot --duration=24h')).trim();
    expect(
      await kubectl.must(`auth whoami --token=${token} -o jsonpath={.status.userInfo.username}`),
    ).toBe('system:serviceaccount:default:robot');
    expect((await kubectl.run(`get pods --token=${token}`)).stderr).toContain('cannot list');
  }, TIMEOUT_MS);

  it('a client certificate names the user and the groups', async () => {
    const carol = await certified('carol', authority);
    const whoAmI = await kubectl.must(`auth whoami ${carol} -o jsonpath={.status.userInfo}`);
    expect(JSON.parse(whoAmI)).toEqual({
      username: 'carol',
      groups: ['devs', 'certified', 'system:authenticated'],
    });
    await kubectl.must(`get pods ${carol}`);
    expect((await kubectl.run(`get nodes ${carol}`)).stderr).toContain('User "carol" cannot list');
  }, TIMEOUT_MS);

  it('a certificate of an unknown authority is refused', async () => {
    const mallory = await certified('mallory', newAuthority('others'));
    expect((await kubectl.run(`get pods ${mallory}`)).stderr).toContain('Unauthorized');
  }, TIMEOUT_MS);

  it('a policy tells one user from another', async () => {
    await kubectl.must('apply -f -', POLICY);
    await kubectl.must('create clusterrole writer --verb=create --resource=configmaps');
    await kubectl.must('create clusterrolebinding writers --clusterrole=writer --user=ann');
    expect((await kubectl.run('create configmap x --as=ann')).stderr).toBe(
      'error: failed to create configmap: configmaps "x" is forbidden: ' +
        "ValidatingAdmissionPolicy 'only-own' with binding 'only-own' denied request: must begin " +
        'with ann\n',
    );
    await kubectl.must('create configmap ann-x --as=ann');
    await kubectl.must('delete validatingadmissionpolicy only-own');
  }, TIMEOUT_MS);

  it('the controls of the simulation are for those who may', async () => {
    expect((await kubectl.run('get --raw /_sim/time --as=ann')).stderr).toContain(
      'User "ann" cannot get path "/_sim/time"',
    );
    expect(JSON.parse(await kubectl.must('get --raw /_sim/time'))).toMatchObject({ rate: 20 });
  }, TIMEOUT_MS);
});
