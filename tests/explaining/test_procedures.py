"""A sentence without a log gets the procedure that it asks for, and other sentences get none."""

import re

import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.answers.explain.procedures import asked_for, in_english, procedures
from rl_advisor.cli.commands import main


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("My AReaL training rewards do not increase", "Rewards do not rise"),
        ("the return never goes up, what can I do?", "Rewards do not rise"),
        ("reward stuck after day one", "Rewards do not rise"),
        ("LLM inference server launched at: AREAL_LLM_SERVER_ADDRS=10.0.0.7:20082 and my workflow fails", "A workflow against a server"),
        ("the vLLM server is up but my agent hangs", "A workflow against a server"),
        ("how do I debug a custom algorithm on a saved batch", "An algorithm of your own"),
        ("In AReaL my reward stays at zero. How do I debug?", "Rewards do not rise"),
        ("The rewards of my run aren't going up", "Rewards do not rise"),
        ("My agent workflow throws an exception, the SGLang server runs at 10.0.0.7:8000", "A workflow against a server"),
        ("How can I debug my own loss without inference servers, using stored rollout data?", "An algorithm of your own"),
        ("test my own loss on a dumped batch of rollouts, offline", "An algorithm of your own"),
        ("keep the SGLang server running while I change my agent", "The inference server alone"),
        ("what starts only the LLM server, without the trainer?", "The inference server alone"),
        ("My agent raises KeyError as soon as it talks to 10.0.0.7:8000. How do I debug it?", "A workflow against a server"),
        ("training reward rises but the validation accuracy stays flat", "The training reward rises"),
        ("my reward goes up nicely and GSM8K is not better than before", "The training reward rises"),
        ("reward and eval accuracy both rise", None),
        ("the entropy suddenly increases, I tried a larger KL", "The entropy rises"),
        ("entropy collapse when training a 7B model", "The entropy falls"),
        ("is an entropy of 0.4 and a reward_std of 0.1 normal?", None),
        ("DPO loss is stuck at 0.693 and accuracy at 0.5", "The loss of preference training"),
        ("What is the advantage of DeepSpeed ZeRO stage 3 for GRPO?", None),
        ("NCCL timeout on 4 nodes after an hour", None),
        ("entropy_coeff=0 kl_loss_coef=0.001 lr=1e-6", None),
        ("with an entropy bonus of 0, as usual", None),
        ("reward rises, test accuracy rises too, but length does not", None),
        ("KL explodes while entropy is as before", "KL to the reference"),
        ("it trains in one process and collapses with asynchronous rollouts on 4 nodes", "It trains elsewhere"),
        ("reward_std is 0 for most groups, what to do?", "Groups without spread"),
        ("chosen rewards go down in DPO", "Both implicit rewards"),
        ("does a custom reward function run on the same data twice?", None),
        ("My vLLM server runs out of memory when I start training", "Out of memory"),
        ("the RAM usage of my agent grows, no OOM yet, after some hours", "Memory that rises"),
        ("GRPO trains on a single GPU and grad_norm is nan on 4 GPUs", "What runs on one card"),
        ("we train on a single GPU or on 4 GPUs, as it comes", None),
        ("KTO: all answers have the same reward", None),
        ("the loss of my model drops from 0.9 to 0.2", None),
        ("rewards increase nicely", None),
        ("the server room is cold", None),
        ("what is a batch?", None),
        ("which saved checkpoint should I take", "Take the checkpoint with the best"),
        ("objective/kl is negative from the first step, although I sample plainly", "A KL that is estimated"),
        ("kl is 0.02 and rewards/rejected is negative", "Both implicit rewards"),
        ("mean_reward falls while objective/kl increases", "KL to the reference"),
        ("the logprob diff of sglang and megatron is large", "Engine and trainer"),
        ("is my reward model good at an accuracy of 0.63 on the eval set?", "A reward model"),
        ("why does my loss go up while the return improves?", "In reinforcement learning a loss"),
        ("my loss is nan", "NaN spreads"),
        ("vf_explained_var oscillates between 0 and -1", "An explained variance"),
        ("PPO: clipping should prevent the policy from straying too far", "Clipping is no bound"),
        ("SAC: the entropy explodes and then the reward is gone", "SAC feeds"),
        ("the agent trains well and does much worse when I load the model and evaluate it", "The same policy"),
        ("why is the test success rate higher than the one in training?", "That is expected"),
        ("DQN: test converges at 400, train at 15, is it the exploration rate that differs?", "That is expected"),
        ("the agent explores with epsilon in training, but the test is far worse than training", "The same policy"),
        ("KTO: the loss is always 0.5, it does not change", "The loss of preference training"),
        ("the loss of my DPO run changes slowly, chosen and rejected do too", None),
        ("KTO: the loss is 0.31 now, is there no need to change the batch?", None),
        ("DDPG: the actor always outputs either 1 or -1", "Actions that sit"),
        ("it converges with stable baselines but not with rllib PPO", "It learns with one library"),
        ("I reduced max_steps and the agent no longer learns", "The planned length"),
        ("the reward drops whenever my curriculum switches lessons", "A reward that drops"),
        ("what does Std of Reward mean in ml-agents?", "Mean Reward is"),
        ("HER: the success rate is 0 after 50 epochs", "The goal is hardly ever"),
        ("the agent stops exploring and is stuck in one behavior", "The policy has settled"),
        ("ml-agents: the entropy goes upwards", "The entropy rises"),
        ("grad_norm is in the tens in GRPO", "A gradient norm"),
        ("should max_grad_norm be as low as 0.001?", "A gradient norm"),
        ("the agent's reward declines after a million steps", "It was good and then fell"),
        ("the lesson of this is that it works", None),
        ("the robot stands still although velocity is rewarded", "The policy has settled"),
        ("DDPG: both actions saturate at the maximum", "Actions that sit at their bounds"),
        ("Pendulum-v0: my agent doesnt learn", "Rewards do not rise"),
        ("the reward of my GRPO run oscillates", "A reward that swings"),
        ("we cannot reproduce the results of the paper with other seeds", "Results in reinforcement learning"),
        ("the completion length keeps decreasing while accuracy rises", "The length of answers"),
        ("the response is short", None),
        ("after PPO the model writes gibberish although the reward rises", "The answers get worse"),
        ("PPO训练之后模型拒绝回答", None),
        ("QMIX: the win rate is always 0", "The goal is hardly ever"),
        ("GRPO takes 5 minutes a step, why is training so slow?", "First see which half"),
        ("why is my entropy_loss negative? (sb3)", "entropy_loss is minus"),
        ("the accuracy reward is always 1.0", "Groups without spread"),
        ("decreasing rewards as steps increase", "It was good and then fell"),
        ("the reward goes to about 0.8", None),
        ("GRPO loss is 0 from the start", "In GRPO a loss of 0"),
        ("kl is always 0 in my grpo run", "A KL of 0"),
        ("after resuming from a checkpoint the reward drops", "After a resume"),
        ("how many steps should I train my agent?", "As long as a held-out score"),
        ("how long should I train GRPO?", "As long as a held-out score"),
        ("sb3 training is slow with 16 environments", "First see which half"),
        ("mean action noise std keeps increasing in rsl_rl", "The entropy rises"),
        ("which batch size should I use for GRPO?", "Three sizes"),
        ("my model is overfitting", "The training reward rises"),
        ("the format reward goes up suddenly and accuracy falls", "Of several parts"),
        ("PPO for text: whatever query is asked the output is the same response, and the reward does not rise", "The same answer"),
        ("is closeness to zero the way to judge the actor_loss of SAC?", "In reinforcement learning a loss"),
        ("the lora adapter does not change the model's output", "See which weights answer"),
        ("why is DDPG so unstable? the learning curve is noisy", "A reward that swings"),
        ("exploding entropy after 20 steps of GRPO", "The entropy rises"),
        ("I have a hard time training a Pendulum to convergence, the agent falls", "Rewards do not rise"),
        ("the reward is negative, is that bad?", "The sign of a reward"),
        ("after step 300 the GRPO model only writes '!!!!!!!'", "Nothing but exclamation marks"),
        ("what a run!", None),
        ("DPO: the loss drops to 0 after a few steps and accuracy is 1.0, why so fast?", "A preference loss that is at 0"),
        ("DPO: the loss is 0.4 after a few steps", None),
        ("logits/chosen is -3e8, is that normal?", "logits/chosen and logits/rejected"),
        ("CQL: the critic loss does not converge", "Offline nothing corrects"),
        ("I trained CQL yesterday", None),
        ("TD3: the actor loss becomes huge, is that normal?", "In DDPG, TD3, SAC and their kin"),
        ("the critic loss does not decrease", "A critic's loss need not fall"),
        ("the critic loss decreases", None),
        ("response_length/clip_ratio is very high", "The share of answers that run into"),
        ("clip_ratio/high_mean is 0.001", None),
        ("why does the fps drop while my agent trains?", "Steps a second"),
        ("the KL of my GRPO run is 3,000,000", "A mean KL in the thousands"),
        ("the KL of my GRPO run is 0.3, large?", "KL to the reference"),
        ("why do objective/entropy and policy/entropy_avg differ?", "An entropy counts"),
        ("GRPO: entropy and kl_loss keep increasing", "The entropy rises"),
        ("GRPO: the kl_loss increases and the entropy falls", "The entropy falls"),
        ("NeMo-RL with vLLM: gen_kl_error is high", "Engine and trainer"),
        ("the accuracy reward and the format reward are always 1", "Groups without spread"),
        ("the reward score reaches the maximum 1 after 60 steps of GRPO", "Groups without spread"),
        ("the reward score reaches 0.4 after 60 steps of GRPO", None),
        ("QMIX: 0.2, while the paper reaches 0.9", "Results in reinforcement learning"),
        ("what is the maximum achievable return of these dm_control environments?", "Only the tasks of the DeepMind"),
        ("the KL looks quite all right, as does the horizon of 10,000 in PPO of TRL", None),
        ("self-play: the ELO of my agent falls", "In self-play"),
        ("how is ep_rew_mean calculated?", "An episode's reward in the log"),
        ("GRPO takes 80 seconds/step, is that expected of training?", "First see which half"),
        ("why is clip_fraction always 0 in my PPO run?", "A clip fraction of 0"),
        ("response_length/clip_ratio is 0", None),
        ("the learning rate is 0.0 in all rows", "A learning rate that is printed as 0"),
        ("why is there no entropy in the log of verl?", "A metric that is missing"),
        ("the reward is not logged on tensorboard", "A metric that is missing"),
        ("there is no log of yesterday", None),
        ("how can I tell whether my PPO training converges?", "How well it goes is told"),
        ("TD3: every episode gives exactly the same return", "The same return in every episode"),
        ("the AMP discriminator predicts 0.99 on expert data", "A discriminator"),
        ("my curiosity reward falls to nothing while the agent explores the maze", "A reward for what is new"),
        ("dreamerv3 stays far from the score of the table on cartpole", "With a model of the world"),
        ("the memory increases with each step of GRPO", "Memory that rises"),
        ("the training hangs at 0%", "A run that stands"),
        ("the reward stands at 0.3", None),
        ("what is the difference between mini_batch_size and micro_batch_size?", "Three sizes"),
        ("should I normalize observations for my humanoid?", "In control bring observations"),
        ("multi-turn GRPO: must the tool response be masked?", "With tools and several turns"),
        ("GRPO on a 30B-A3B MoE collapses", "In a mixture of experts"),
        ("what entropy is normal for an LLM?", "An entropy counts"),
        ("the critic/score/mean of GRPO suddenly drops. Would a stronger KL help? Accuracy grows elsewhere.", "It was good and then fell"),
        ("the PPO loss is difficult to decrease", "In reinforcement learning a loss"),
        ("the mean reward of my robot rises first and then drops", "It was good and then fell"),
        ("the mean reward of my robot rises first", None),
        ("after some time the rewards of my agent suddenly drop to 0", "It was good and then fell"),
        ("the reward of each rollout is nan, an environment of three agents", "A metric that is missing"),
        ("the actions are nan and so is the reward of the agent", "NaN spreads"),
        ("which temperature is best for rollouts of GRPO?", "In training sample at temperature 1"),
        ("SAC: which temperature is best?", None),
        ("GRPO: why is advantages/mean below zero?", "Advantages are centred"),
        ("the robot learns to walk in circles", "The policy has settled"),
        ("after some steps the images of my flow model get noisy while the reward rises", "The answers get worse"),
        ("the agent acts randomly when I load the model after training", "The same policy"),
    ],
)
def test_a_sentence_and_its_procedure(text: str, title: str | None) -> None:
    found = asked_for(text)
    assert (found is None) == (title is None)
    assert found is None or found["title"].startswith(str(title))


TALK = "".join(f"We then changed part {i} of our set-up once more. " for i in range(12))


@pytest.mark.parametrize(
    ("text", "steps", "said"),
    [
        ("My agent's policy suddenly collapses. " + TALK, True, "It was good"),
        (TALK + "The agent's policy suddenly collapses once.", False, ""),
        (TALK + "We agree. Why does the agent's policy suddenly collapse?", True, "It was good"),
        ("We changed it. We changed more. Once it was stuck, the PPO score.", False, "Paste the lines"),
    ],
    ids=["first", "in passing", "asked", "nearly enough"],
)
def test_what_is_said_in_passing_names_no_cause(text: str, steps: bool, said: str) -> None:
    answer = tools.explain_log(text)
    assert bool(answer["steps"]) is steps
    assert said in answer["summary"]


def test_two_rows_that_weigh_alike_are_both_named() -> None:
    assert "Nearly as likely: Actions that sit" in tools.explain_log("our robot stands still, its actions saturate")["summary"]
    assert "Nearly" not in tools.explain_log("our robot stands still")["summary"]


def test_what_a_program_printed_asks_for_nothing() -> None:
    rows = "[rank7]:[E809 14:59:30.41] rollout failed, the workflow server hangs asynchronously and the reward collapses\n"
    assert not tools.explain_log(f"{rows}[120] return 6.5 / fps 31.0 / train the agent slow 1\n", "what is this?")["steps"]
    assert "launched" not in str(tools.explain_log(rows, "is the time 14:59 right?"))


def test_the_address_in_the_text_stands_in_the_steps() -> None:
    said = "the inference server is up at 10.0.0.7:20082 and my workflow fails"
    assert "curl http://10.0.0.7:20082/health" in asked_for(said)["steps"][1]["run"]  # type: ignore[index]


def test_every_step_says_what_to_run_and_what_it_means() -> None:
    assert all(set(step) == {"do", "run", "means"} and all(step.values()) for p in procedures().values() for step in p["steps"])


def test_every_fragment_is_put_in() -> None:
    """Of what a text must hold, and of what bars a row: a name in braces matches nothing."""
    said = [group for p in procedures().values() for way in (*p["ways"], [p["not"]]) for group in way]
    assert not [group for group in said if re.search(r"\{[a-z_]+\}", group)]
    assert asked_for("Should I normalize the observations?") is not None
    assert asked_for("Should I normalize the observations now that the score falls?") is None


def test_explain_answers_with_numbered_steps() -> None:
    answer = tools.explain_log("My AReaL training rewards do not increase")
    assert len(answer["steps"]) == 4
    assert answer["summary"].startswith("Rewards do not rise")
    assert "compare PROBE RUN --probe" in answer["steps"][1]["run"]


ROWS = "step {} accuracy {} format {}\n"


@pytest.mark.parametrize(
    ("right", "form", "said"),
    [
        ((0.16, 0.1, 0.04, 0.0), (0.48, 0.7, 0.9, 0.98), "the task dropped"),
        ((0.16, 0.2, 0.22, 0.24), (0.48, 0.7, 0.9, 0.98), ""),
        ((0.16, 0.1, 0.04, 0.0), (0.98, 0.7, 0.5, 0.48), ""),
    ],
    ids=["a form that is paid crowds out the task", "both rise", "both fall"],
)
def test_bare_parts_of_a_reward_are_read_together(right, form, said: str) -> None:
    text = "".join(ROWS.format(i, a, b) for i, (a, b) in enumerate(zip(right, form, strict=True), 1))
    assert ("the task dropped" in tools.explain_log(text)["summary"]) == bool(said)


def test_which_losses_may_be_negative() -> None:
    rows = "step=10 loss=-0.02 reward=0.4\nstep=20 loss=-0.03 reward=0.5\n"
    assert "A policy loss may be negative" in tools.explain_log(rows, "is it normal that loss is negative?")["summary"]
    assert "may be negative" not in tools.explain_log(rows, "is the reward normal?")["summary"]


def test_a_sentence_is_asked_at_the_command_line_as_it_is() -> None:
    """No file and no pipe: the sentence itself, also with an address in it, or one that asks for nothing; two words are a name."""
    said = CliRunner().invoke(main, ["explain", "the server at http://10.0.0.7:20082 is up and my workflow fails"])
    assert said.exit_code == 0
    assert "curl http://10.0.0.7:20082/health" in said.output
    assert "I found no metrics" in CliRunner().invoke(main, ["explain", "the sea is cold"]).output
    assert "neither a file" in CliRunner().invoke(main, ["explain", "cold sea"]).output
    assert "0.9" in CliRunner().invoke(main, ["explain", "is an entropy of 0.9 normal?"]).output


def test_what_is_usual_stands_with_its_range() -> None:
    said = tools.explain_log("{'loss': 0.0, 'grad_norm': 0.3, 'kl': 0.004, 'reward': 0.4, 'reward_std': 0.2, 'completion_length': 120.0}")[
        "summary"
    ]
    assert re.search(r"Within what is usual: .*kl 0\.004 \(mostly \S+ to \S+\)", said)


def test_an_address_is_no_number_that_was_measured() -> None:
    assert not tools.explain_log("How can I test it against a running server (10.1.2.3:8000)?")["metrics"]


@pytest.mark.parametrize(("scores", "falls"), [((0.0,) * 8, False), ((0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1, 0.1), True)])
def test_a_score_of_nothing_throughout_falls_from_nothing(scores, falls: bool) -> None:
    text = "".join(f"step {i} eval_accuracy {score} loss 0.{i}\n" for i, score in enumerate(scores, 1))
    assert ("before the fall" in str(tools.explain_log(text))) is falls


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("ppo训练为啥loss不断上涨", "In reinforcement learning a loss"),
        ("dpo训练中chosen一直为负并且下降, 正常吗", "Both implicit rewards"),
        ("奖励模型的准确率只有0.6, 正常吗", "A reward model"),
        ("这是什么", None),
    ],
)
def test_a_question_in_chinese_is_heard(chinese: str, english: str | None) -> None:
    found = asked_for(in_english(chinese))
    assert (found is None) == (english is None)
    assert found is None or found["title"].startswith(str(english))


def test_beside_rows_only_a_question_is_answered_by_a_procedure() -> None:
    rows = "{'loss': 0.02, 'reward': 0.3, 'reward_std': 0.2, 'kl': 0.01}\n{'loss': 0.05, 'reward': 0.4, 'reward_std': 0.2, 'kl': 0.02}\n"
    assert "no measure of progress" in tools.explain_log(f"Why does the loss go up while it trains?\n{rows}")["summary"]
    assert "no measure of progress" not in tools.explain_log(rows)["summary"]


def test_a_setting_at_fault_goes_before_a_procedure() -> None:
    said = tools.explain_log("GRPO, num_generations=1, learning_rate=1e-6: my rewards do not increase, why?")["summary"]
    assert said.startswith("Not normal")
    assert "num_generations` = 1" in said


@pytest.mark.parametrize(
    ("text", "name"), [("in my GRPO run the kl is 5 after ten steps, ok?", "kl/ref"), ("my sb3 agent has a kl of 5, ok?", "kl/old")]
)
def test_a_kl_in_a_sentence_is_the_one_of_its_field(text: str, name: str) -> None:
    assert [m["metric"] for m in tools.explain_log(text)["metrics"]] == [name]


def test_where_nothing_can_be_told_it_says_what_to_paste() -> None:
    assert "With agents:" in tools.explain_log("there is something about my agent in Unity")["summary"]
    assert "With language models:" in tools.explain_log("there is something about my GRPO run")["summary"]
    assert tools.explain_log("the sea is cold today")["summary"].endswith("the launch command.")


@pytest.mark.parametrize(("said", "unusual"), [("", True), (" with LoRA", False), (" full fine-tuning", True)])
def test_a_rate_for_adapters_is_no_rate_for_all_weights(said: str, unusual: bool) -> None:
    told = tools.explain_log(f"GRPO on a 0.6B language model{said}: is a learning_rate of 5e-5 ok?")["metrics"]
    assert (told[0]["normal"] == "unusual") is unusual


def test_a_question_beside_rows_of_agents_is_one_about_agents() -> None:
    rows = "('Episode', 3, 'Step', 90, 'Reward', 0.03)\n('Episode', 4, 'Step', 99, 'Reward', -0.12)\n"
    assert "Actions that sit at their bounds" in tools.explain_log(rows, "the actions are saturated, where is the problem?")["summary"]
    assert "Actions that sit" not in tools.explain_log(rows, "the actions are fine, where is the problem?")["summary"]


def test_ppo_beside_rows_names_no_half_of_the_field() -> None:
    rows = "".join(f'{{"loss": 0.0{i}, "reward": -0.1{i}, "learning_rate": 7.3e-06}}\n' for i in range(1, 5))
    assert "3e-4" not in tools.explain_log(f"why does the ppo loss jump about?\n{rows}")["summary"]
    assert "3e-4" in tools.explain_log(f"why does the ppo agent not learn in my environment?\n{rows}")["summary"]


def test_beside_rows_that_show_no_fault_a_symptom_is_still_answered() -> None:
    """What the numbers answer comes first; only where neither they nor a fault say anything every row is heard."""
    row = "| train/ | |\n|    actor_loss      | -{}.5    |\n|    critic_loss     | 0.06     |\n|    learning_rate   | 0.0003     |\n"
    rows = row + "|    n_updates       | {}00     |\n|    reward          | 0.31     |\n"
    text = "".join(rows.format(i, i) for i in (7, 8))
    assert (
        "The same return in every episode"
        in tools.explain_log(text, "DDPG: the agent gets the same reward again and again. Why?")["summary"]
    )
    assert "The same return" not in tools.explain_log(text, "DDPG: is the learning_rate normal?")["summary"]


def test_which_value_to_choose_is_answered_by_what_is_usual() -> None:
    assert "learning rate: 1e-6 to 5e-4 is usual" in tools.explain_log("what learning rate should I use for GRPO with LoRA?")["summary"]
    assert "is a start" not in tools.explain_log("what does the learning rate do?")["summary"]
