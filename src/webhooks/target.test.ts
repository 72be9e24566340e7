import { describe, expect, test } from 'vitest';
import { createResolve } from './connect.ts';
import { checkTarget, createTargetGuard, type TargetPolicy } from './target.ts';

const strict: TargetPolicy = { allowPrivate: false, allowedNetworks: [] };
const names: Record<string, string[]> = {
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'inside.example': ['10.0.0.7'],
  'half-inside.example': ['93.184.215.14', '192.168.0.9'],
};

async function resolve(hostname: string): Promise<string[]> {
  if (hostname === 'dead.example') throw new Error('no name server answers');
  return names[hostname] ?? [];
}

function isAllowed(address: string, policy = strict): boolean {
  return createTargetGuard(policy, resolve).isAllowed(address);
}

describe('addresses', () => {
  test.each(['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700::1111', '2001:4860:4860::8888', '::ffff:8.8.8.8'])(
    '%s is public',
    (address) => expect(isAllowed(address)).toBe(true),
  );

  test('an IPv4 address behind NAT64 is judged as that IPv4 address', () => {
    expect(isAllowed('64:ff9b::8.8.8.8')).toBe(true);
    expect(isAllowed('64:ff9b::10.0.0.1')).toBe(false);
    expect(isAllowed('64:ff9b::a9fe:a9fe')).toBe(false);
  });

  test.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'shared by a carrier'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'cloud metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.1', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'relays'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'this host'],
    ['::1', 'loopback'],
    ['::127.0.0.1', 'an IPv4 address in a form long given up'],
    ['::ffff:127.0.0.1', 'an IPv4 address'],
    ['::ffff:a9fe:a9fe', 'an IPv4 address'],
    ['::ffff:0:127.0.0.1', 'an IPv4 address, translated'],
    ['64:ff9b:1::7f00:1', 'translation of a network of its own'],
    ['100::1', 'discarded'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::1', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'given to nobody'],
    ['fc00::1', 'private'],
    ['fd12:3456:789a::1', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
  ])('%s is refused: %s', (address) => expect(isAllowed(address)).toBe(false));

  test('a network that the operator names is allowed, in either family, and nothing beside it', () => {
    const policy = { allowPrivate: false, allowedNetworks: ['10.1.0.0/16', 'fd00:1::/32'] };
    expect(isAllowed('10.1.2.3', policy)).toBe(true);
    expect(isAllowed('::ffff:10.1.2.3', policy)).toBe(true);
    expect(isAllowed('10.2.0.1', policy)).toBe(false);
    expect(isAllowed('fd00:1::5', policy)).toBe(true);
    expect(isAllowed('fd00:2::5', policy)).toBe(false);
    expect(isAllowed('127.0.0.1', policy)).toBe(false);
  });

  test('where private receivers are allowed, every address is', () => {
    const policy = { allowPrivate: true, allowedNetworks: [] };
    expect(['127.0.0.1', '::1', '169.254.169.254', '8.8.8.8'].every((address) => isAllowed(address, policy))).toBe(
      true,
    );
  });

  test.each(['10.0.0.0', 'example.com/8', '10.0.0.0/33', ''])(
    '"%s" is not a network, and said to be none',
    (network) => {
      expect(() => createTargetGuard({ allowPrivate: false, allowedNetworks: [network] }, resolve)).toThrow(
        `"${network}" is not a network`,
      );
    },
  );
});

describe('URLs of endpoints', () => {
  const guard = createTargetGuard(strict, resolve);

  test.each([
    'https://public.example/hook',
    'http://public.example:8080/hook?x=1',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/hook',
    'https://not-yet-known.example/',
    'https://dead.example/',
  ])('%s is accepted', async (url) => {
    await expect(checkTarget(url, guard)).resolves.toBeUndefined();
  });

  test.each([
    ['', 'absolute URL'],
    ['/hook', 'absolute URL'],
    ['public.example/hook', 'absolute URL'],
    ['https://', 'absolute URL'],
    ['ftp://public.example/', 'https:// or http://'],
    ['file:///etc/passwd', 'https:// or http://'],
    ['javascript:alert(1)', 'https:// or http://'],
    ['https://user:secret@public.example/', 'credentials'],
    ['https://user@public.example/', 'credentials'],
    ['https://inside.example/', 'public internet'],
    ['https://half-inside.example/', 'public internet'],
    ['http://127.0.0.1/', 'public internet'],
    ['http://2130706433/', 'public internet'],
    ['http://0x7f.1/', 'public internet'],
    ['http://0177.0.0.1/', 'public internet'],
    ['http://127.1/', 'public internet'],
    ['http://127.0.0.1./', 'public internet'],
    ['http://①②⑦.0.0.1/', 'public internet'],
    ['http://0/', 'public internet'],
    ['http://169.254.169.254/latest/meta-data', 'public internet'],
    ['http://[::1]/', 'public internet'],
    ['http://[::]/', 'public internet'],
    ['http://[::ffff:127.0.0.1]/', 'public internet'],
    ['http://[::ffff:7f00:1]/', 'public internet'],
    ['http://[fd00::1]/', 'public internet'],
  ])('%s is refused', async (url, reason) => {
    await expect(checkTarget(url, guard)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'url',
      message: expect.stringContaining(reason) as string,
    });
  });

  test.each(['http://localhost/', 'http://LOCALHOST:3000/', 'http://api.localhost/', 'http://localhost./'])(
    '%s is this machine, without asking any name server',
    async (url) => {
      const resolving = createTargetGuard(strict, createResolve(strict, ['127.0.0.1:9']));
      await expect(checkTarget(url, resolving)).rejects.toThrow('public internet');
    },
  );

  test('the refusal does not tell which address a name has', async () => {
    await expect(checkTarget('https://inside.example/', guard)).rejects.not.toThrow('10.0.0.7');
  });

  test('where private receivers are allowed, no name is looked up', async () => {
    const open = createTargetGuard({ allowPrivate: true, allowedNetworks: [] }, () => {
      throw new Error('looked up');
    });
    await expect(checkTarget('http://anything.example/', open)).resolves.toBeUndefined();
  });
});
