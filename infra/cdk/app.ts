// Cairn as a CDK app: the shared stack, and one stack per system, from the declarations of the systems.
import { App, DefaultStackSynthesizer, Validations } from 'aws-cdk-lib';

import { declaration } from './declaration.ts';
import { SharedStack } from './shared.ts';
import { SystemStack } from './system.ts';

const app = new App();
// Another deployment in the same account has other stack names.
const deployment: string = app.node.tryGetContext('deployment') ?? 'cairn';
const stack = (name: string) => ({
  stackName: `${deployment}-${name}`,
  // The templates have no parameter for the version of the bootstrap.
  synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
});
const shared = new SharedStack(app, stack('shared'));
Validations.of(shared).acknowledge({
  id: 'CloudFormation-Validate::W1001',
  reason: 'The outputs name the domain only where the condition that makes it holds.',
});
// CDK needs the zips of all stacks that it synthesizes: those of all systems but the examples, or those of
// -c systems=parks,tracker.
const chosen: string[] | undefined = app.node.tryGetContext('systems')?.split(',');
const unknown = chosen?.find((name) => !declaration.systems.some((system) => system.name === name));
if (unknown !== undefined) {
  throw new Error(`there is no system ${unknown}; there are ${declaration.systems.map(({ name }) => name).join(', ')}`);
}
for (const system of declaration.systems.filter(({ name, isExample }) => chosen?.includes(name) ?? !isExample)) {
  const made = new SystemStack(app, system, stack(system.name));
  Validations.of(made).acknowledge({
    id: 'CloudFormation-Validate::F3033',
    reason: 'Alarms name the topic only where the condition that there is one holds: its ARN is never empty there.',
  });
}
app.synth();
