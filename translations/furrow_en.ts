<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en">
<context>
    <name>Alerts</name>
    <message>
        <source>Run finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss is not a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss spike</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker makes no progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data repeats itself</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss too good to be true</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk trained twice or missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk nearly full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has finished: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was interrupted. Resume shows what would be trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has failed: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the rows repeat a row before them and are left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ended: %2. A smaller batch needs less memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loss of %1 is %2: the model knows this data by heart, or the data is trivial.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss spike on %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not a number on %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 went back to its last checkpoint: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker died</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints cannot be found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run waits for its data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files of the data left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits for its data: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints cannot be removed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AskDialog</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AuditReport</name>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks expected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Still to come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, attempt %2: %3 to %4, %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Audit of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was checked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not inspected, because nothing else records it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Findings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; wrong: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; could not be inspected: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Outside of the guarantee</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left out, trained by the parent run</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Chart</name>
    <message>
        <source>worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChartData</name>
    <message>
        <source>Attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last step %1, resumed %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) of attempt %1 are not in the weights</source>
        <translation>
            <numerusform>%n step of attempt %1 is not in the weights</numerusform>
            <numerusform>%n steps of attempt %1 are not in the weights</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChartStatistics</name>
    <message>
        <source>Visible range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Points</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smallest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Largest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Statistics of the visible range</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>nats per pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChartsPage</name>
    <message>
        <source>Attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after attempt %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paragraphs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Spans</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stream</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>HRM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rotary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LayerNorm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RMSNorm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GELU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SwiGLU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Linear</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Constant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stable, decay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Efficient</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamW, 8-bit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamATan2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SGD</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Average</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DiLoCo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GELU, exact</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GeGLU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GeGLU, exact</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SiLU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End to end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One each</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The next token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preferences (DPO)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not at all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By its tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChunkCell</name>
    <message>
        <source>free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leased</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>excluded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to be redone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>orphaned claim</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Core</name>
    <message>
        <source>SIGKILL (likely the out-of-memory killer)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>signal %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far repeats text before it. The loss will look better than it is. Set duplicates to skip, or look for files that are in the data twice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loss is %1 bits per byte in the first pass over the data, below anything that can be learnt from new text (zstd needs %2). Labels may not be shifted, or the data contains copies of itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its prepared file is gone from the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its supervisor was gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder is looked at from outside (%1), so the run is trained by another computer, whose processes cannot be seen from here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run wrote something %1 ago.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no sign of life for %1 from the computer that trains it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No attempt was started yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run; its last heartbeat is %2 ago.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 workers alive.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A process holds the run and has not written a heartbeat yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor process is gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The boot id changed: the computer was restarted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 has no exit record.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last heartbeat was at %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor logged at its end: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the supervisor process is gone, there is no exit record</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the computer restarted while the run was training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A person marked the run as finished at %1; until then it was %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The feeder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run was killed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ended with %2: %3 See %4 for more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The limit of %2 restarts is reached.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no progress within its lease</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>killed; what was trained since the last checkpoints is trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The workers ended before the run did.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1 stands on a damaged checkpoint %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nobody holds %1, which is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>somebody holds %1, which is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is counted in checkpoint %2, which no surviving weights were made from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: windows %2 to %3 are in the surviving weights twice (the second time through checkpoint %4); likely cause: the ledger was changed from outside, or restored from an older copy while a worker went on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 counts as committed, but only %2 of %3 windows are in surviving checkpoints; likely cause: a checkpoint row was removed or changed from outside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the ledger counts %2 covered windows, its parts cover %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its samples do not add up to its %2 rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4: %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 began before claim %3 had ended; likely cause: the ledger was changed from outside, or two copies of it were in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 is open but does not hold the chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 leaves out %2 chunks that the parent run trained (parent.json names it)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks of epoch %2 are in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker was damaged and %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the counters of block %1 (epoch %2) differ from its chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 has %2 chunks, its blocks promise %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 is closed although %2 chunks are left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no stopping rule is reached any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopping rule reached: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an epoch is complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 epochs are complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 opened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing to train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 opened again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rebuilt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rebuilt: %1 checkpoints with %2 parts were added from their files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>accepted as not trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another try</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run went back to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merge round %1 opened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the rest after %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>given back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank 0 ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2, written in %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the loss or gradient norm of windows %1-%2 is not finite; the step is left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss %1 in windows %2-%3 is an outlier: robust z-score %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 It is left out of the merge; its chunks are trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The replicas are averaged without it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merged %1 replicas into %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, loss on held-out text %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; distances from the base %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no progress for %1 in phase &apos;%2&apos;; if that continues, the lease of this worker ends and its work goes to others</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the epochs are complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a stopping rule is reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>adaptive rate: mean loss of %1 steps went from %2 to %3, so the rate is %4 % of the schedule (before: %5 %)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, allowed is at most %3, which is %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is empty, allowed is byte, char, gpt2 or the path of a tokenizer.json.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, below %3 %4: every sample would be filtered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 numbers for %3 sources, allowed is one for each or none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has &apos;%2&apos;, allowed are numbers above 0.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 names several sources, %2 stream takes one file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which does not divide %3 %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2: rotary positions need an even head size, width / heads is %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is 1, allowed is 0 (no experts) or 2 to 256.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which works with architecture gpt without experts only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU, but with %2 %3 the workers train on the CPU here; allowed there is auto, fp32 or bf16.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but each worker does about %3 steps until the run ends: its learning rate would never reach %4. Lower %5, or train longer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but there are no weights to keep as they are: the pairs would be trained beside random ones. Name the weights with %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but hrm has none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only; hrm keeps the activations of one step anyway.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU; allowed with %2 %3 is auto, fp32 or bf16.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is 0: nothing would be learnt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is empty, allowed is auto, cpu:N or a list of GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, allowed is cpu or cpu:1 to cpu:256.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is 1, but %2 is data, which splits each step over at least 2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is cpu:1, but %2 is data, which splits each step over at least 2 workers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is diloco, but with %2 data there is one model and nothing to merge; allowed is average or none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but with %3 data there is one model and nothing to merge.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot change from %2 to %3 in a run that has begun: it defines its chunks or its weights. Start a new run instead.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The weights of the run did not grow from it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk not prepared yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks not prepared yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk leased</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks leased</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk trained, not in a checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks trained, not in a checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk poisoned: accept or retry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks poisoned: accept or retry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last block not proven</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last block not proven because %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>any number of epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 blocks, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 hours, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 (epoch %2) is not marked as its chunks say</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is held by worker process %2, which would overlook it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 has parts of claims that it does not name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot open the lock file %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is locked by another process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot lock %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2; at most %3 are accepted here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot ask for the free space at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;%1&apos; is a folder that %2 synchronises, which copies a live database piece by piece and damages it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it or its folder does not exist</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk is full; free some space and try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>your disk quota is used up; free some space and try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied; change the rights or choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file system is read-only; choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>too many open files; raise the limit (ulimit -n)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the name is taken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot write %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot sync %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot close %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot create the folder %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot open the folder %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot sync the folder %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot remove %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot rename %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it lies on a network or synchronised file system (%1), where locks and syncs do not hold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it lies on a network file system (%1), where locks do not hold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it lies on a FAT file system, which can lose a whole file when the power fails</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot read %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends at byte %2, before what should be read; it was cut short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk is read-only; choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another program has it open; close that program and try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it lies on a network drive, where locks do not hold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot start %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot start %1 in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no preset &apos;%1&apos;. Known are %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache cannot write its size to %1. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by running runs and %4 more are to be written. Raise cache_gib.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the cache was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not exist.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a file that can be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 bytes, had %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has other content than when the run was made.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written at %2, after the run was made (%3).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data manifest of this run has version %1; this Furrow reads up to %2. Use a newer one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 expands more than %2 times (%3 out of %4), which looks like a decompression bomb. Unpack it yourself if it is meant so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends in the middle of its compressed data, after %2 of text. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has damaged compressed data after %2 of text (%3). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The evaluation text %1 has no sample that passes the filters of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The evaluation set %1 has version %2. Use the Furrow that wrote it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading %1 was stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 answered with more than 64 MiB where a list was expected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use data that is on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy, HF_ENDPOINT a mirror of the hub.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 redirects in a circle.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no such revision.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not exist, or is private: set HF_TOKEN to a token that may read it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not have what was asked for (404).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the hub answered %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s answer names no commit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s list of files cannot be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1 redirects in a circle.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is another file on the hub than in its list; try again later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is shorter than the hub&apos;s list says.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the server does not send the part of the file that was asked for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (SHA-256). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (git&apos;s SHA-1). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 of its files were looked at; the other %3 are taken to have the encoding and dialect of those before them. Name these in the settings if that is not so (--encoding, --csv-delimiter).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends before the bytes that were asked for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data manifest of this run names a file of the hub in a form that cannot be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1 has no config &apos;%2&apos;. It has: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1 has several configs; name one, as in hf://%2:%3. It has: %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 The form is %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it does not begin with hf://.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the revision is not a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has too many parts.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the repository is not owner/name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1:%2 has no split &apos;%3&apos;. It has: %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1:%2:%3 names no file that is there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking at the data was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no file with text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no file with text. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No data is chosen. Name a file, a folder, a pattern or hf://owner/name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no rows after start_sample.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no rows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet (%2). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a Parquet file, and this Furrow was built without Parquet. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a first line of more than 16 MiB where the names of the columns should be.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text. Columns with text are: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns are: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no column with text. Its columns are: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 cannot be opened (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 cannot be read (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link out of the folder; name its target as a source of its own if it is meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has more than %2 files. Name a smaller folder, or join the files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The pattern names more than %1 files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No file matches %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 has no file with text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be opened (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a file or folder that can be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the text has no characters to make a character tokenizer of; use the tokenizer byte</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>character tokenizer: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tokenizer char is made from the data of a run; to load a saved one give char:PATH</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has no GPU; &apos;cpu:2&apos; trains on the CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parallel is data, which splits each step over at least two workers, but there is one (%1). Name more devices, or set parallel to independent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>workers is %1, but the number of GPUs in devices is %2: one worker trains on one GPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>init_from: the run in %1 has no checkpoint %2 in its tracker; `furrowctl eval` and the console list those it has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parent_chunks is skip, but checkpoint %1 has just ended a pass over this data: nothing of a new one is trained yet. Use parent_chunks=again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parent_chunks is skip, but init_from names no checkpoint of a run. Give --init-from RUN/checkpoints/NAME, or leave parent_chunks at again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer is %1, but the weights of init_from were trained with another one. Use --tokenizer %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parent_chunks is skip, but the run of init_from was trained on other data or cut it into other chunks (data, chunk_samples, chunk_bytes, samples_per_block and seq_len must be the same). Use parent_chunks=again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer is char, which reads all data to find its characters; %1 is too much for that. Use byte or gpt2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer is char, but the data has more than %1 different characters. Use byte or gpt2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a run already. &apos;furrowctl resume&apos; goes on with it; for a new run name another folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot hold a training run: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No sample of the data passes the filters: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all data together</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a chunk of %1 samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not the tokenizer this run began with. Put the original file back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Its chunks and weights were made with that; put it back, or start a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Put it back; what may change is changed with &apos;furrowctl resume %4&apos;, which keeps what was before.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing can be changed in %1 from here: %2. Use Furrow on the computer that trains it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not running. &apos;furrowctl status&apos; says how it ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no checkpoint %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more; start a new run from it instead (--init-from).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is damaged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the supervisor ended before it held the run; see %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the supervisor did not take the run within 30 seconds; see %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is already running, held by process %2. Stop it first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is already running. Stop it first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was never started, so there is nothing to accept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are; a resume merges them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be used: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not the run.json of a Furrow run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was made by Furrow %2 (format %3). This is %4, which reads format 1; use the newer program.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds no telemetry: the run was never started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the export.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (%2); `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk is full: %1 could not be written; free some space and resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: reading or writing failed (%2); check the disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 exists already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker %1 lacks &apos;%2&apos;; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be changed from here: %2; do that on the computer that trains the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a tracker of Furrow, or was never finished; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written with tracker version %2, this Furrow reads up to version %3; open the run with a newer Furrow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which this Furrow cannot bring to version %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a stopping rule cannot be negative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a run cannot live in %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is being trained; it can be left out when the run is stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, not poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be replaced: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>workers are alive; a run goes back only while nobody trains it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is the newest of a replica or the base of new ones and must stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is pinned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no checkpoint %1 with files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads state format 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no held-out text to evaluate on; set held_out_percent above 0 in a new run, or name a file with --data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the evaluation was interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is nothing to merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 does not fit %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be merged: its tensor %2 has NaN or Inf. Go back to an earlier checkpoint of this replica.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the base of this merge lacks the tensor %1: its members do not grow from it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights, but ema_decay is 0 here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here, only cpu: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here. What there is: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), or lower seq_len or width. What was said: %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), turn recompute on, or lower seq_len or width. What was said: %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the base %1 of this merge is not in the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No replica has weights that can be merged. %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was never started. Start it with &apos;furrowctl resume&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker has no checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker names checkpoint %1 as the head of replica %2 and has no row of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was made by the %2 learner, this worker was started with the %3 one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name the folder to make with --out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the counting model cannot be exported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is being trained; it merges by itself. Stop it first to merge by hand.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--checkpoints needs two or more folder names, joined by commas.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run has no checkpoint &apos;%1&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 do not grow from one base; an average of them would be garbage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>method is &apos;%1&apos;, allowed is one of average, diloco.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the counting model writes no text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no checkpoint &apos;%1&apos;. They are the folders in %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the counting model has nothing to evaluate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has shape %2; the model needs %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds no floating-point numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds NaN or Inf; the weights were not loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights but not in this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the prompt holds no token; give at least one character</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sampling needs temperature &gt;= 0, top-k &gt;= 0, top-p in (0, 1] and tokens &gt;= 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the prompt holds token %1, outside the model&apos;s vocabulary of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no weight_map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the file of tensor &apos;%2&apos; is not text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 points outside its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 lists more than 10000 files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has another shape or type than config.json describes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is unknown in this layout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>two to eight runs can be compared, not %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the queue of %1 is run by another process already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>entry %1 of the queue is not in training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no other run waits for the devices of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not lie in this workspace; only its own runs go to its trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not lie in the trash of this workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written by a newer Furrow (version %2); use that one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in the queue already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this run of the queue is in training; stop it first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the queue has no entry %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but two prepared blocks of %3 samples take about %4. Raise it, or lower %5.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but all data together has %3 tokens, less than one window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 packs into about %4 windows of %5 %6 tokens, and no step goes over the edge of a chunk. Lower it, or raise %7.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, allowed is auto, none, comma, semicolon, tab, pipe, space or one ASCII character.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is none, but the fields of a csv file need something between them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is the same character as %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The texts of a list are joined by line breaks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other columns with text: %1. The setting text_column chooses.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text is column %1, as text_column says.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text is column %1, chosen by its name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text is column %1, the only one with text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its first record names the columns.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its columns have no names.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2 text and is converted to UTF-8.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They stay as they are; set encoding if the text has another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, line %2: a quote that begins in this record is not closed where a field ends, and would swallow the lines after it. Close it, or say with csv_quote, csv_escape or csv_delimiter how the file is written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no encoding &apos;%1&apos;. Known are utf-8, utf-16le, windows-1252, shift_jis, gb18030 and the others that ICU has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Row %1 of its file cannot become tokens. %2 The line &apos;sample %3&apos; on the quarantine list (exclude) leaves it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The pattern %1 tells characters beside %2 apart, and Oniguruma %3 of this system does not know that one. Install Oniguruma 6.9.10 or later, or leave the text out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the pattern %1 matches in a text of %2 bytes cannot be found out (%3). Write a pattern that backtracks less, or leave the text out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sentencepiece model %1 does not encode a text of %2 bytes: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is a link to a file elsewhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2, an address with a name or password in it, which would be kept in the run. Give a file, or hf://owner/name and the secret in HF_TOKEN.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1: the list of files does not end (%2). The server is at fault; try again later, or without the mirror that HF_ENDPOINT names.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page %1 leads back to one before it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 pages and %2 files so far</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether %1 (%2) is free cannot be told: %3. Choose another device, or have that mended first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2) is in use by another run. Choose another device, or stop that run first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SIGKILL, sender unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The %1 workers would take about %2 of memory together, and this machine has %3. Fewer workers, a smaller batch_size or a smaller model need less.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The %1 workers want %2 cores together, and this machine has %3: they would take turns and be no faster. Use fewer workers or threads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot list %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2 is not there. Is its disk mounted?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Older checkpoints are kept until two newer ones are whole.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with %2 chunks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The run went on without it, so it stays out of the weights; a new run can start from it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 unfinished checkpoint folders were removed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link and was left as it is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Nothing was changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on from the newest whole checkpoint before it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Its %2 chunks are free again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. Where a resume can take it back, fewer chunks are trained again than counted here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 No whole checkpoint is left behind it: training would begin again from the start weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The one before it would be used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was marked damaged and is whole; a resume takes it back where that is still possible.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it knows no checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the newest checkpoint that it knows is %1 (step %2, %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker %1 is older than the weights: %2, and in %3 lie manifests of this run that it does not know: %4, the newest %5 (step %6, %7).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the entries in %2 are not known to the tracker; nothing of them was deleted, they were moved to %3: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the prepared file of block %2, which is not the name of a file; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the folder of checkpoint %2, which is not the name of a folder; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no damaged checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was found whole again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot look at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download %1 has other bytes than the hub promised (SHA-256).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rows %1 to %2 of %3 are not those that were there when the run planned its blocks: the file was changed. Restore it and try the chunks again, accept them as not trained, or begin a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a pointer of git-lfs, not the data itself. Fetch the data with &apos;git lfs pull&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a web page, not data: its download was refused or needs a log-in. Fetch it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is Parquet with an encrypted footer, which Furrow cannot read. Write it again without encryption.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends as Parquet and does not begin so: its first bytes are damaged. Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is called Parquet and is %2. Give it its right name, or write it as Parquet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is called Parquet and neither begins nor ends as such a file. Fetch or write it again, or give it its right name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is called JSON lines, and none of its first lines is a JSON object. Give it its right name, or write one object per line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is called %2 and does not begin as such a file: its first bytes are damaged, or it has a wrong name. Fetch or write it again, or give it its right name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download %1 is damaged: its checksum differs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3 at %4/s, %5 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not compared with the SHA-256 that the hub promises: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is larger than a quarter of the cache (cache_gib), so it is read by parts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only the columns that are needed are read of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the hub promises no SHA-256 of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block %1 was first prepared from a copy of %2 that was not what the hub promises (SHA-256), and has other rows now. What was trained of it stays in the weights. Begin a new run, or accept its other chunks as not trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the copy of %1 on this disk was wrong when it was prepared, or became so</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold what the hub promises of %2 (SHA-256).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold what the hub&apos;s list promises of %2 (git&apos;s SHA-1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name of %1 is not UTF-8, so a run cannot keep it. Rename the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written to while it was read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written to while the run reads it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk cannot be read (%1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks cannot be read (the first: %2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: only the column &apos;%2&apos; is fetched (%3 % of the files), so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the audit was ended before it was done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its rows, windows or tokens in %2 are not those that the tracker recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 has the file &apos;%2&apos;, which is not the name of a file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: the file %2 is whole and has other content than the tracker recorded: it was replaced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the prepared block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the prepared blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: prepared from the source once more it has other content than the tracker recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the source</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the source once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 blocks prepared once more from %2 of text, and the fingerprints of their samples, chunk by chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the manifests of the checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: checkpoint %2 trained windows %3 by its manifest and %4 by the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the windows in %1 manifests against %2 part rows of the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 could not be inspected: its manifest cannot be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of all %3 checkpoints that are there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints, the newest of each replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 has the folder &apos;%2&apos;, which is not the name of a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that the tracker recorded (its SHA-256 differs): the file was changed, or belongs to another checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 cannot be used: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 has another %2 in its manifest than in the tracker: one of them was changed by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 were removed by the keep policy, and the tracker does not know it: it is older than the checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 could not be inspected: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 names &apos;%2&apos;, which is not in its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the weights of checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 could not be inspected: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its SHA-256 differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 (step %2) is not in the tracker: the tracker is older than the checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 has a name that is not UTF-8. Name another folder for the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hash of the tokenizer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there are chunks of epoch %1, which never began</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as given up, but surviving weights were made from it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as surviving, but no newest weights were made from it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 names checkpoint %2 as its parent, which is not older</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the table %1 has %2 rows and ids up to %3: rows were taken out of the history</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 blocks have chunks and no counters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints does not belong to this run: a copy, or something foreign. Nothing was done with it; the next resume moves it to checkpoints/unknown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints is a link and was not looked into</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link: what is inspected lies elsewhere, and Furrow writes nothing there. Put the folder itself in its place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is listed in epoch %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no digest: its file cannot be proven</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is marked as trained by the parent run, which the list of what the parent trained does not say</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 names claim %2, which is not one of its claims</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 says that it was trained %2 times, its claims say %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 says %3 %4, its windows and steps give %5: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 says that it trained %3 tokens, the whole chunk has %4: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 trained or left out windows that it did not have, or both: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its mean loss is not the loss over the tokens of its newest training: one of the two rows was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the plans of the blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 (epoch %2) counts as visited, but no training of its chunks began</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 (epoch %2) does not count as visited, but training of its chunks began</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 begins at row %2 of its source, the block before it ended at row %3: there is a gap or an overlap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 has %2 chunks of %3 rows by its own row, and %4 chunks of %5 rows in epoch 1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 has a prepared file and is not marked as prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 is marked as prepared, but chunks of it (epoch %2) wait to be prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 is not marked as prepared, but chunks of it (epoch %2) can be claimed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: its plan does not begin where the one before it ended, or does not end where the next one begins: it was changed by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: its plan has other rows or chunks than its row in the tracker: one of them was changed by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is %2 steps further than what it was made from, its parts have %3: the row of a part or of a checkpoint was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is a merge, and no round of merging had all checkpoints that it was made from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is of another replica than worker process %2, which wrote it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 names claims %2 to %3 and has parts of claims %4 to %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was given to round %2 of merging, and the tracker lacks one of them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2 and has a part of claim %3, which is of worker process %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1, which the tracker does not have, is said to be made from checkpoint %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim %1 has a part in checkpoint %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim %1 has parts in checkpoints of different worker processes (%2 and %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim %1 is of worker process %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim %1 says that it began with step %2 of worker process %3, which had made %4 before: the row of a claim was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claim %1 says that it took %2 steps, checkpoint %3 and others have %4 of it: the row of a claim or of a part was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>events are of worker process %1, which the tracker does not have: its row was taken out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a claim its place in the schedule of the rate, its highest gradient norm and the samples that stood out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a round of merging whether more replicas contributed than are listed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rebuilt: counters and totals were counted anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>round %1 of merging gave checkpoint %2, which is not a merge that the tracker has</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>round %1 of merging has a result and no contributions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>round %1 of merging was done by worker process %2, whose own contribution to it is gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hashes of tokenizer and held-out text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the events open %1 epochs, the tracker has %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the events open %1 rounds of merging, the tracker has %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text: this run was made by a version that did not keep its hash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json in part or as a whole: this run was made by a version that kept no full record of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of run.json the name of the run, its preset, when and by which version it was made, and where its data lie</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of run.json the settings that a resume may change and the list of its files: the tracker has no record of them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>telemetry and logs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the order in which chunks are given out, and who held a chunk last</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the plans of all blocks against their rows; SHA-256 of %1 prepared blocks in the cache, and their chunks against the tracker; %2 more are not there and are made again when they are needed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there are counters of block %1 (epoch %2), which has no chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>wall-clock times, and the time that the run was active</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>who wrote %1 checkpoints and their loss on held-out text: their manifests are of a version that did not keep it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker process %1 contributed to round %2 of merging, and the tracker lacks the process, the round or the checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker process %1 is of attempt %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker process %1 trained replica %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 has a part of claim %2, which did not train that chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: checkpoint %2 has windows %3 to %4 of claim %5, which that claim did not train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 counts %2 chunks as %3, it has %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>problems found, see below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing is wrong in what could be read, but not everything could be inspected, see below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every chunk is where it should be, once, and the files are as recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every chunk is where it should be, once; weights not inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (it has %2 %3, which no run can have); `furrowctl doctor %4 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the run begins when it lets go. Let it go on or end it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it stood still inside a write to the tracker, for which everybody waits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it held the lock of the tracker and made no progress within its lease</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker is locked, and it made no progress within its lease</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it stood still while others waited for it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its size differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1 stands on checkpoint %2, which the tracker does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker says that the data has %1 blocks, and it has rows of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker %1 has a view, a trigger or a virtual table, which Furrow makes none of: it was changed from outside; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder of checkpoint %1 has files that Furrow did not write; they were kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has been locked for too long by %2; let it go on or end it, then try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which an older Furrow writes; this one writes version %3. While an older Furrow trains the run, use that one; when it has stopped, `furrowctl resume` of this one brings the tracker forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a process that cannot be seen from here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file %1 has grown to %2, because %3 reads an older state of the tracker and does not end. Let it go on or end it; nothing is lost, and the file shrinks then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>somebody</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The learning rate goes on as planned: %1 now, %2 at the end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The learning rate was %1, goes on at %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>most of the text is not in the weights: %1 of %2 windows were left out, because their steps were not finite. Look at the text and the learning rate before you use them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 windows were left out, because their steps were not finite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>windows %1 are left out: they were not finite before and after a roll-back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite, again in %2: going back to the last checkpoint, and its windows %3 are left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite in %2 from windows %3 on: going back to the last checkpoint, with the learning rate at %4 % of the schedule.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training has diverged: the mean loss of %1 steps is %2, the best so far was %3. Stop it and go back to a checkpoint before that (resume --from-checkpoint) with a lower rate.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the plain average</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the outer step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1 alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last round: the plain average is kept, there is no text to evaluate the outer step on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last round: %1 is kept (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; a replica that evaluates better alone lacks what the others trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of epoch %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains none again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains %2 again: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 workers are still alive. What they save before they end is kept too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>name has %1 characters, allowed are %2. Choose a shorter one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This program was built with SQLite %1, which can damage a tracker that several processes use (WAL-reset bug of 3.7.0 to 3.51.2): no tracker is written. Run packaging/native.sh and build it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of duplicates of this run, %1, is not there or is damaged, and without it no block can be prepared. Resume the run: it makes the list again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of duplicates %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for duplicates was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>looking for duplicates: %1 of about %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>looking for duplicates: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker of %1 is damaged: %2. Nothing was changed. &apos;furrowctl audit %3&apos; says all that is wrong, &apos;furrowctl doctor %4 --repair&apos; rebuilds what the checkpoints prove.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is &apos;%2&apos;, allowed is BLOCK:CHUNK, both from 0, such as 3:17.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a name that leads out of the archive and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 stands in its archive twice, and which one counts is not said. Pack it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 more files in it were left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is Parquet that is compressed once more, so it cannot be read at any place. Unpack it from the archive.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is encrypted. Unpack the archive and name the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is packed by method %2 of zip, which Furrow does not know. Unpack the archive and name the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is stored with holes (sparse) and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends at byte %2, in the middle of an archive. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the archive ends %2 bytes before the end of this file. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has another size than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has another checksum than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends in the middle of its Arrow data, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data before byte %2 (%3). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a batch of %2 that would have to be in memory at once; %3 is the most. Write it again in smaller batches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a batch that needs more than %2 of memory. Write it again in smaller batches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read as Arrow (%2). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data in batch %2 (a text that lies outside of it). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is an Arrow file, and this Furrow was built without Arrow. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another process wrote to %1 in the cache, or removed it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be written to. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is one JSON document. Name the list of its rows and their text with text_column, such as data[].text, or write one object per line (jsonl).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is Feather of version 1, which Furrow cannot read. Write it again with version 2, or as Parquet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is WARC: its plain texts are read (conversions, resources, and responses with status 200); HTML and all else is left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a WebDataset: its files of one name are one row, and their endings are its columns.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 needs more than %2 of memory to be expanded. Pack it again with a smaller window or dictionary.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading %1 was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: a part that was fetched just now is gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a JSON list.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the member &apos;%2&apos; is not a list.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no member &apos;%2&apos; with the list of rows that text_column names.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends in the middle of its JSON, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is broken JSON before byte %2. Write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends in the middle of what begins at byte %2. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no row that can be read at byte %2, and no end of its rows. Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the member &apos;%2&apos; with its rows a second time, after the first. Which one counts is not said: Furrow has read the first, Python and others take the last. Rename or remove one of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is damaged before byte %2 (%3). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a damaged zip directory (%2). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no zip directory at its end, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is one part of a zip archive in several. Join them first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a directory of more than 64 MiB. Unpack it and name the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Begin a new run with another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>feeder: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but the data has the blocks 0 to %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but block %3 has the chunks 0 to %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights of %1 checkpoints that the run itself removed, or left, while they were inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker was older than the checkpoints and %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>taken forward: %1 checkpoints with %2 parts were added from their files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit of %1 optimiser steps is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit of %1 tokens is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit of %1 hours is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk whose work was lost: it is trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks whose work was lost: they are trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk claimed by a worker that is gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks claimed by workers that are gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is nested deeper than %1 levels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not JSON at byte %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has a number that is too large to be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a whole number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is %1, which it cannot be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a JSON object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is neither true nor false</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has no key &apos;%1&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not a JSON object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its key &apos;%1&apos; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run cannot be read: %1. Restore tracker.sqlite from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run does not add up. Restore tracker.sqlite from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not the name of a character</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is a compression that this Furrow does not know</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is a format that this Furrow does not know</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data manifest in run.json cannot be read: %1. Restore run.json from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be used: %2. Restore it from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is of a block that no run can have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a chunk that a run can have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>names a path outside the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>manifest.json cannot be used: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its state.json says %1 %2 and its manifest.json %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its state.json names other parents than its manifest.json.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its state.json counts more steps or tokens since its base than in all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its state.json counts more steps, tokens or samples of its own than in all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>state.json cannot be used: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: state.json cannot be used: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: tensor &apos;%2&apos; of its weights holds NaN or Inf, though the hashes of its files fit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: %2 It was put aside and is prepared again from the source when it is needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy and its folder is there; the next resume takes it back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what Furrow wrote, so the folder was not deleted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was removed, and its folder is there again; it was left as it is: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 had been removed and is there again: it is the run&apos;s again, and pinned.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an older merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all replicas, merged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a merge with %1 of %2 tokens; others trained what is not in it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1&apos;s own weights: %2 of %3 tokens; not merged with the others</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is the newest of replica %2 and is marked as removed, which the keep policy never does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1 should stand on checkpoint %2 or a newer one, and stands on an older one: its row was changed from outside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the end of the epoch was reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the requested number of blocks is complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the requested number of steps was reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the requested number of tokens was reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the requested hours are over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all requested epochs are trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person stopped it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an error stopped it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it was interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the rest of the data cannot be trained as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the frozen weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a SHA-256</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads formats 1 and 2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 holds the pairs of LoRA alone; the weights beside them are missing: %2 is not there. It was in checkpoints/frozen of run %3. Copy it there, or into the folder of the checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds the secret of the environment variable %2, which would be kept in the run and shown everywhere. Take it out: what needs the secret reads it from the environment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder of the run holds the secret of the environment variable %1, which would be shown everywhere. Name another folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chunks of block %1 that the parent run trained are written as nobody writes them: their row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the windows that claim %2 had, trained or left out are written as nobody writes them: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person killed it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The learning rate jumps at once from %1 to %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the merge, as worker %1 evaluated it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1, while it trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot write in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a second name elsewhere (a hard link, as &apos;cp -al&apos; makes), and what Furrow writes would change the file of that name too. Nothing was changed. Make a copy of the run folder by &apos;cp -a --reflink=auto&apos;, and go on with the copy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot open %1: %2. Remove it, or ask who made it to.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waits for the lock of the cache, %1, held by %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the lock of the cache, %1, was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache cannot be used: its lock, %1, is held by %2. Let it go on or end it, then try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has carriage returns without a line feed outside of quotes, at which some programs end a record and others do not. Convert them to line feeds (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE), or put quotes around the fields that hold them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not running: %2 holds %3 and is not a supervisor of the run. End it, or wait until it lets go.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The run is still being trained; &apos;furrowctl kill %2&apos; ends it without its tracker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one in which this run was being trained, so the attempt ends; nothing more is written or deleted in it. Put the folder of the run back in its place and resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one that this attempt began with, so the attempt ends; nothing more is written or deleted in it. Put the right folder back in its place and resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. Put the tracker of the run back and resume; or &apos;furrowctl doctor %2 --repair&apos; makes it anew from what the checkpoints prove.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. It is a part of the tracker. What it held was moved into the tracker first; &apos;furrowctl resume %2&apos; goes on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be brought up to date: another process reads it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not of this tracker. Nothing of it was deleted, it was moved to %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what was asked of the run, the plan of its learning rate, and how attempts and worker processes ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shipped file %1 is missing. Install or build Furrow again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 is not there: it was moved or deleted, or its disk is not mounted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2, for this reason: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens of held-out text; %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with %1 steps; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopping rules: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the runs have different data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the blocks have %1 and %2 samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chunks are cut differently</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tokenizers differ, so losses per token cannot be compared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 have different tokenizers: their losses are not of the same tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 were evaluated on different text: their eval losses say nothing of each other.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was evaluated on %2 tokens of the held-out text, %3 on %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot open %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is a link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chat template is larger than 1 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chat template refuses this: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is too large</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chat template fails in line %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2, an address with a password or a signature in it, which would be kept in the run. Put the whole address into the environment variable FURROW_DATA_SECRET, also when the run is resumed, and give here %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is empty, allowed is at least one file, folder, hf://, https://, s3:// or gs:// source.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its server promises no SHA-256 of it; what comes is compared with its ETag or Last-Modified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is taken as %2 text and is converted to UTF-8. It could as well be %3: name the right one with --encoding.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, which reads %2 where %3 reads %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the store&apos;s list cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot prove that it is this server: %2. Nothing is read from it. CURL_CA_BUNDLE names a file of further certificates to trust.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another run fetches %1 and stands still (%2), so it is fetched here too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another run fetches %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the server answered %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not encrypted (https), and is not followed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the store&apos;s list does not end, page %2 leads back or on for ever. The store is at fault.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its server says neither how long the file is nor where it ends, so nobody could see that the end is missing. Download it and name the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is another file now: it has other bytes than it had (SHA-256).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checking %1: %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checking file %1, %2: %3 of %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloading %1: %2 at %3/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hf://%1 has no file with text (txt, csv, tsv, jsonl, parquet, zip, tar).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 names no bucket. The form is s3://bucket/key or gs://bucket/key; the key may be a file, a folder that ends in /, or a pattern with *.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has to be downloaded as a whole, and there is no cache for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a name that is not UTF-8, or no ETag, and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2. Its server cannot send parts of it, or gives its state no name, so it is downloaded as a whole, from its beginning each time, and known by its SHA-256.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 files, %3, each known by its ETag.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified) and by its SHA-256.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is another file now: its server calls it %2, before %3 (ETag or Last-Modified).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile AWS_PROFILE in ~/.aws; without them only what is open to all can be read. Keys for a time may have run out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 may not be read (%2). CLOUDSDK_AUTH_ACCESS_TOKEN holds the token that asks (gcloud auth print-access-token), which lasts an hour; without it only what is open to all can be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Where it needs a password or a signature, put the whole address with it into FURROW_DATA_SECRET; a signature may have run out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not exist (%2). Check the address.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not exist. Check the path, or write hf://owner/name for a data set of the hub, https://... for a file of a server.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a list of whole numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a list of texts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not an object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>key %1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not known here and might change what the model computes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is &apos;%1&apos;, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is false, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not above 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not name one type for each layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has &apos;%1&apos;, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not 0, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not 1: some layers have no experts, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>names layers without experts, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is set, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>scales the positions of layers with a window, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is set, which is not known here for phi3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model_type is &apos;%1&apos;; known are %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this model has no Hugging Face layout: GPT-2 needs learned positions, layernorm, gelu and as many key-value heads as heads; Llama and Mixtral need rope, rmsnorm and swiglu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not part of a shape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shape of the model cannot be read: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shape of the model is wrong: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the %1 in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 has %4, which init_from takes over. Leave this setting out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seq_len is %1, but %2 has a context of %3. Give at most that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shape from %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokenizer: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Windows of %1 tokens are trained (seq_len); the model keeps its context of %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the download in the cache does not hold what was promised of it (SHA-256); it is put aside when it is read next, or by &apos;furrowctl cache verify&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 downloads in the cache against what was promised; %2 more are not there, and are compared when they come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; %2 files are not verified as a whole, the first: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer is %1 with %2 ids, but the model of init_from has %3. Leave tokenizer out, or name that model&apos;s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting for the data: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files from the network: %1 of %2 verified as a whole (SHA-256), %3 not yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not verified as a whole: %1 of %2 files; of the first %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then nothing is merged and no process that ends is started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it stood still while workers waited for data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 start afresh: no checkpoint has them any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>config.json is of another model than these weights: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a JSON object.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no chat_template. Name the file of a template, or the folder of a model that has one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no chat template %1. Name its file, the folder of a model that has one, or chatml.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds what looks like a password, a token or an address that opens itself, which would be kept in the run and shown everywhere. Take it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is a form of conversations that this Furrow does not know</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a name with a text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than it had (SHA-256), though its server says that it is the same file. Try again; if it stays so, the server or a proxy is at fault.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The column %1 holds conversations. With a chat_template they are trained as such; without one their texts are plain text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds conversations in the column %2, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl, or set chat_template to none to train its texts as plain text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds conversations in the form &apos;%2&apos;, the files before it in the form &apos;%3&apos;. Name them as two sources.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rows are conversations (%1, column %2): the chat template writes them, answers are learnt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No conversation of %1 can be trained: the first one %2. A template that marks with {% generation %} what the assistant writes fits all conversations; with chat_loss last one without it fits more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat template writes %1, which the tokenizer does not have as a token: it becomes %2 tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens is not a list of texts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token_type is not a list with a number for each token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>scores is not a list with a number for each token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token_type has the unknown kind %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens has &apos;%1&apos; twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pre is &apos;%1&apos;, a way to split text that is not known here; known are %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merges is not a list of texts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model is &apos;%1&apos;, which is not known here; known are gpt2, llama</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama.cpp has no form for this tokenizer: %1. Export as huggingface.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;%1&apos; has the id %2, the model has %3 rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a merge is not a pair of texts without spaces</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it splits text in none of the ways that are known here: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its sentencepiece model is not a byte-pair one, or changes characters first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is neither byte-pair of bytes (tokenizer.json) nor of sentencepiece (tokenizer.model)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no tokenizer %1. Give byte, char, gpt2 or the path of a tokenizer.json or sentencepiece .model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a Jetson, for which libtorch comes from NVIDIA alone. Workers train on the CPU; to use the GPU, build Furrow with that libtorch (FURROW_TORCH).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs CUDA up to %2, and libtorch needs CUDA %3. Update the driver to train on the GPU; until then workers train on the CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs what libtorch needs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The GPU here is AMD&apos;s, which Furrow cannot use: there is no build of it for ROCm. Workers train on the CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Workers train on the CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 asks for an account (HTTP %2). Give it as pip takes it: in PIP_INDEX_URL or pip.conf, https://name:password@host.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 answers with HTTP %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 redirects to something that is not an address.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 redirects without end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 cannot be fetched: %3. Without a network, `furrowctl torch install --from FOLDER` takes a folder of wheels that were fetched elsewhere.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No wheel of %1 %2 for this computer with a pinned hash is in %3. The index is the one that pip is configured for; PIP_INDEX_URL names another one, `furrowctl torch install --from FOLDER` takes a folder of wheels.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a libtorch: there is no lib/libtorch_cpu.so in it. Name the folder of an unpacked libtorch or site-packages/torch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The libtorch %1 in %2 does not fit this Furrow (%3). `furrowctl torch install` brings one that fits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The libtorch in %1 is %2 and this Furrow was built with %3; libtorch promises nothing to programs that were built with another series. `furrowctl torch install` brings one that fits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of an unknown version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 free and about %3 are needed. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Trying again in %2 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 lacks wheels for this computer: %2. Where there is a network, `python3 -m pip download --no-deps --dest FOLDER` with these names fetches them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is neither a file nor a folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 needs %2 %3 beside it in its folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>libtorch %1: %2 files, of which %3 are to be fetched; %4 of disk are needed while it is installed, about %5 afterwards, in %6.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a file that Furrow knows; its SHA-256 is %2. It is taken because you named it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the SHA-256 %2, which is none of those that Furrow knows for %3 %4. It is damaged or something else: fetch it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another `furrowctl torch` is at work in %1. Wait for its end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch is missing. `furrowctl torch install` brings it, `furrowctl torch find` takes one that is there already. Runs can be watched without it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch was in %1 and is there no more. `furrowctl torch find` looks for another one, `furrowctl torch install` brings one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the active environment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk of %1 takes no more. Make room, then run this again: it goes on from here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 sent another part than was asked for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. What is there already is kept: run this again, and it goes on from there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 from %2 has the SHA-256 %3, which is none of those that Furrow knows for %4 %5. It was thrown away. Run this again; if it comes again, the index holds something else: name another one in PIP_INDEX_URL.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a wheel that Furrow can unpack: %2 is a link, encrypted, packed in a strange way, or too much.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at byte %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a text of %1 bytes does not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a text before it is not UTF-8</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a boolean is neither 0 nor 1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a value is of an unknown kind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a value is of the unknown kind %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a list holds lists, which nothing here needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a list of %1 values does not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the header is longer than 256 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file ends in the middle of its header</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it does not begin as a GGUF does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its numbers are big-endian, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is of version %1 of GGUF; known are 2 and 3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tensors do not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 metadata do not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has %1 dimensions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has an impossible shape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is of type %1 of ggml, which is not known here; known are f32, f16, bf16, q8_0, q4_0, q4_1, q6_k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has rows of %1 numbers, which is not a multiple of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>general.alignment is not a power of two up to 1048576</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is listed twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>begins at byte %1 of the data, which is not a multiple of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>overlaps the one before it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs %1 bytes from byte %2 of the data, which has %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is there twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a value that GGUF does not hold here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>models of %1 are not written as GGUF here; known are %2. Export as huggingface.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a GGUF cannot say what this model is: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is set beside rope_freqs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stretches positions in a way that is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not attention.key_length, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not the width of the model divided by its heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not the width of a head, which is not known here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>general.architecture is &apos;%1&apos;; known are %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat template from %1, for rows that are conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tracker and run.json disagree: %1 is &apos;%2&apos; in the tracker and &apos;%3&apos; by run.json, and chunks would be given out or counted in another way. One of the two was changed from outside; put a copy of it back from before.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 says that this is run %2, and none of its checkpoints is of that run: %3 are of run %4. Nothing was changed, since a repair by this run.json would give up all of them. Put the run.json of the run back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run knows no chunk of its data yet: the first block is read when it trains.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no epoch %1: it has begun %2 so far.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no chunk %1:%2: it knows the blocks 0 to %3 so far.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat template: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run is %1: nothing is paused. `furrowctl resume` goes on with it, and says first what is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A tracker made anew would give up newest weights that the old one knew, since nothing whole in %1 proves them: %2. Nothing was changed. Put a whole copy of them back and repair then; or &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on without them and their chunks are trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers wait at the end of their chunks. Continue (`furrowctl continue`) lets them go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A person asked for a stop: the workers save a checkpoint and end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A person asked for a kill: every process is ended, without a checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, or others wait for it, it is ended and started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run ends with the block that is complete next: a person or a stopping rule asked for that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run ends when %1 more blocks are complete.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run ends with epoch %1: a person asked for that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ended with %2. See %3 for more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training is not possible here: furrow-worker does not start with the libtorch in %1 (%2). `furrowctl torch install` brings one that fits; of a build run packaging/run.sh again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has more than %2 that is not telemetry: nothing is read after that. Move it out of the folder, or put a copy of it back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run, a Hugging Face folder or a GGUF.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name the file to make with --out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is there already. Name a new file for the export.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no type &apos;%1&apos;. Known are f32, f16, bf16, q8_0, q4_0, q4_1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a model without a run, which has no checkpoints. Leave --checkpoint out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no tokenizer.json or tokenizer.model, so texts have no meaning for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tokenizer of %1 has %2 ids, but the model has %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model of this run has no chat template; go on from a text with --prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(The tokenizer has nothing for: %1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it computes wrong gradients: %1 where 1 is right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a number that %2 cannot hold. Export with --type f32.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only: hrm sums up a window as a whole.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is on, but %2 stream knows no samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of one checkpoint, the newest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Neither the tracker nor its snapshot (%1) can be read, so nobody can say whether there were newer weights than those in %2. By these %3 of %4 known chunks are trained. Nothing was changed. Put back what you have of the two and repair then; or &apos;furrowctl doctor %5 --repair --accept-loss&apos; goes on from these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link that leads out of the model&apos;s folder, to %2, and what lies there would be kept in the run. Put a copy of the file in its place if it belongs to the model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is nothing at %1; name a checkpoint of a run, the folder of a model, or a weight file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat template holds the secret of the environment variable %1, which would be kept in the run. Take it out of the template.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run could not be asked to end: %1 So its supervisor, process %2, was killed with all that it started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its supervisor was gone; it was last seen at %1 and found dead at %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 more is partly trained: %1 of its %2 samples are kept, and nothing of these is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more are partly trained: %2 of their %3 samples are kept, and nothing of these is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk partly trained: %1 of its %2 samples are in checkpoints, the rest is to come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks partly trained: %2 of their %3 samples are in checkpoints, the rest is to come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its prepared file is another one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after epoch %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after a block; %1 known chunks of the epoch are left, and what was not read yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after a block; %1 chunks of the epoch are left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 has other content than when it was first prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; its source has changed. Restore the source, or exclude the block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person asked for a pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the pause is over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>precision is &apos;%1&apos;; allowed are auto, fp32, bf16, fp16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has an empty name. Is a variable not set?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>user %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another user</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it took longer than %1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it ended before it answered (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is refused at message %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no messages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is written by the chat template without a turn of the assistant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prepared block %1 is damaged: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prepared block %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prepared block %1 has %2 chunks, asked was for chunk %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>made with files that are left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not in the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run names a source that the data set does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preparing block %1 was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 answered %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the comparison with the training data was interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run was written by a newer Furrow. Use that one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last block plan of this run does not fit its data manifest.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run names a file that the data set does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A block plan of this run has fewer rows than its chunks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has fewer rows than it had; it changed while the run was going.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of duplicates %1 is damaged: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link to nothing that is there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link to %2, which is read already, and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 tokens in one of its parts, too few for a context of %3. Use more text or a shorter context.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and none called %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The vocabulary size %1 is outside 258 to 1,000,000.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training of the tokenizer was stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not a sentencepiece model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the normalizer makes the text more than 64 times as long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token id %1 is larger than %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the vocabulary is empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the pattern %1 is not understood: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the sentencepiece model has no pieces</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>line %1 is not a new &quot;base64 rank&quot; of a tiktoken file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a tiktoken file with %1 ranks is of no known family (GPT-2, cl100k, o200k, Qwen); use its tokenizer.json</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not valid JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and unk_id names none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No NVIDIA driver was found: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old: %1 lacks functions of driver 450 and later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The NVIDIA driver is installed but does not start; nvidia-smi says why.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether the libtorch %1 in %2 fits could not be found out: furrow-trainer was started with it, and %3. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>config.json: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>config.json is not a JSON object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has another size than was written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 differs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be looked at (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The run is trained by process %2, which belongs to %3. Only they, or root, can end it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run cannot be asked to end: %1 Its supervisor, process %2, was killed and is still there: it waits for the system, as for a disk that does not answer, and ends when that does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is marked as finished already. Nothing was changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is finished already: %2. Nothing was changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its supervisor stands still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is finished, and nothing was started. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether furrow-worker starts with the libtorch in %1 could not be found out: %2. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 row cannot be used: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows cannot be used; the first: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 sample has the text of one before it in its block, and is trained all the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 samples have the text of one before them in their block, and are trained all the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 sample has bytes or escapes that are not characters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 samples have bytes or escapes that are not characters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The weights are being merged; no worker trains meanwhile.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The workers are starting; none has begun yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk of %1 is full: nothing is saved until there is room.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The newest checkpoint is of %1, though one is due every %2 minutes; the logs of the workers say why. %3 trained chunks are in none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not the newest weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before the end of epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens that are trained too, for the data is too small to hold text out; %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting: enough is prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checking block %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting: the cache is full of blocks in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The merge ended with %1; see %2. The replicas are kept as they are; a resume merges them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what worker %1 had trained since its last checkpoint could not be saved, and is trained again: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this worker lost the lease: its uncommitted work was given to others</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is outside what a run can hold; choose larger blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 chunks; 1 to 1,000,000 are possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has a chunk without rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was prepared with %2 rows, which is not what its block promised</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1, chunk %2: the rows of a prepared chunk do not add up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 lies after the proven end of the data set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the data set ended after %1 blocks before and after %2 now: it has changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>more blocks are known than the data set is said to have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 is not known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 was prepared with another number of chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint folder %1 is recorded already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is in several contributions but not in all: they have no common base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was trained by two contributions; the merge is refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was never claimed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its parts overlap or do not add up; run `furrowctl audit`</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2 and cannot become %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not %2 any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the counters of block %1 are missing; run `furrowctl audit`</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a part of a joined transaction was given up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is listed twice in one checkpoint, or with an empty range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this worker does not hold %1 (any more)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that this worker did not train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that another one has already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this worker may only commit checkpoints of replica %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was not made from checkpoint %2, the newest of replica %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was finished already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 belongs to run %2, this worker was started for run %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this worker has started already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attempt %1 is over; this worker came too late</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 is being trained by process %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1 is being trained by process %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 claims nothing: rank 0 claims for all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the trained windows overlap or are empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: trained and skipped windows are not what was claimed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no merge round %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a worker contributes its newest checkpoint (%1), not %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merge round %1 is in other hands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is not among the contributions of merge round %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 was found damaged and cannot be merged; take the job again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attempt %1 ended as failed: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 belongs to %2. Only they, or root, can move it into the trash or out of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>preparing block %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 belongs to %2, who could not write what root makes there. Use `sudo -u %3 furrowctl ...`, or set FURROW_AS_ROOT=1 to do it as root all the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The environment names no home folder, so there is no place for what Furrow keeps. Set HOME.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is gated: accept its terms on %2 and set HF_TOKEN to a token of that account.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no file %2. Its GGUF files: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no config.json, so it is not a text model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 keeps GGUF files: %2. Name one, as %3/FILE.gguf.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no safetensors. Weights in other formats (pytorch_model.bin) are programs that run when they are read, and are not taken; look for a copy of the model with safetensors.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 has %3, which no such file has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 files, more than any model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The copy that was fetched before is taken: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fetching a model was interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is being fetched by %2; this process waits until that has ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2 free and %3 are needed for %4. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a model of the hub. Write hf://owner/name, hf://owner/name/FILE.gguf or hf://owner/name@revision.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has no text under &apos;question&apos;, &apos;query&apos;, &apos;prompt&apos;, &apos;context&apos;, &apos;ctx&apos; or &apos;input&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its choices are not a list of two or more texts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no choice is named by its &apos;gold&apos;, &apos;answer&apos;, &apos;label&apos;, &apos;answerKey&apos; or &apos;target&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has neither choices nor a text under &apos;answer&apos;, &apos;target&apos; or &apos;output&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not UTF-8</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is broken JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>line %1 of %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line %1 of %2 is of another kind than line %3: some questions have choices, others an answer to be written. Put them into two files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds no questions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No line of %1 is a question. The first: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a model of the hub and not on this machine yet. &apos;furrowctl model fetch&apos; brings it; then name the folder that this prints.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was moved to %2 while the run was being trained, so the attempt ends. Resume it there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was deleted while the run was being trained, so the attempt ends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has ended: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the supervisor stands still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1 stands still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker is locked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its disk is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not there. Is its disk mounted?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 questions are to be shown with their answers, but there are %2 in all, and none would be left.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A model without a run has no evaluation text. Name one with --data, or questions with --tasks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3, of which %4 are here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot make a pipe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the process does not read its input</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot start %1: the system allows no more processes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was killed while it was started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>libcurl could not be started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading was stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading after the end of a file inside an archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading after the end of what is in memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is shorter than it was.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ICU has lost a converter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ICU cannot convert: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>init_from could not be checked: furrow-worker ended with %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer in ten minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be written: the run opens without its cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a cache of this version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: checksum differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>zlib could not be started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the debug bundle could not be compressed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not the name of a shipped file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be loaded (Windows error %2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chat template writes something else %1 than in the whole conversation, from byte %2 on (%3, %4), so what the assistant writes cannot be told</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is refused: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>data-parallel training: the ranks lost one another: %1; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>data-parallel training: no meeting through %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without NCCL and cannot sum on GPUs. Train on the CPU (devices cpu:2), set parallel to independent, or build with the CUDA wheel of libtorch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without Gloo&apos;s headers. Set parallel to independent, or install libgloo-dev and build again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 (worker %2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 did not come to the meeting within %3 s. All ranks end and start again together from the last checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 (worker %2, process %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ended: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 are gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not take part any more: it stands still or hangs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 do not take part any more: they stand still or hang.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the ranks lost one another, and each of them is alive: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 left a collective call out: it is at exchange %2 after %3 sums, another rank at exchange %4 after %5.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>data-parallel training, rank %1 of %2: %3 All ranks end and start again together from the last checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 belongs to another version of Furrow. Install Furrow again, so that all of its files are of one version.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its end is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its chunk table is not where it should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checksum of its chunk table differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is too short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it does not begin as one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checksum of its header differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is too short for its chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its chunk table is too short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a chunk is not where it should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its chunks do not fill it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its list of unreadable rows cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checksum of a chunk differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the samples of a chunk do not add up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its SHA-256 differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its table is not where it should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checksum of its table differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its table is too short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its rows do not add up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checksum of a page differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it names a row that it does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the evaluation text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line %1 of the quarantine list, &quot;%2&quot;, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>names no chunk: write chunk BLOCK:COLUMN.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>names no sample: write sample and its fingerprint of 16 hex digits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is pattern number %1, more than a list may have. Join some with |.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>holds no regular expression (%1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>begins with none of chunk, sample, pattern.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading the quarantine list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no message where one should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a message that cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a size that is not a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no header where one should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a name of more than 64 KiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an extended header of more than 1 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an extended header that cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a place after its end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a place that holds none (zip64)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another size than it has</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fewer files than it counts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a size without its value (zip64)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a file where another one stands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a file that is longer than the archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>two files in one place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not a definition of one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its version is not 1; a newer Furrow wrote it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fallback or code_points is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>code_points must be ascending code points</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Replace has no pattern</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the decoder %1 is not supported; supported are ByteLevel, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, Replace and Sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab is missing or not an object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab: the id of &quot;%1&quot; is not a number from 0 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab: two tokens have the id %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is not a pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.merges: an entry is not a pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.merges is missing or not a list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is shorter than the prefix of what continues a word</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; + &quot;%2&quot; or its parts are not in the vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has dropout, which makes ids random</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the texts of its vocabulary are longer than 16 MiB together</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a token of its vocabulary is longer than 4096 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.max_input_chars_per_word is not a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab is missing or not a list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab: entry %1 is not a token with its score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.vocab: &quot;%1&quot; is there twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model.unk_id is not an id of the vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its model type is %1, supported are BPE, WordPiece, WordLevel and Unigram</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>precompiled_charsmap is not base64</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the normalizer %1 is not supported; supported are NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel and Sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the split behaviour &quot;%1&quot; is not known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Split has no pattern</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the length of FixedLength is not a number above 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the delimiter of CharDelimiterSplit is not one character</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the pre-tokenizer %1 is not supported; supported are ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts and Sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>precompiled_charsmap: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its array is cut or too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its texts are not UTF-8</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it matches backwards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is longer than 64 KiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not known to match as in the tokenizers library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizer gpt2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 are more than %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Metaspace with prepend_scheme first after another pre-tokenizer and a normalizer is not supported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>added_tokens: an entry has no id from 0 to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>added_tokens: &quot;%1&quot; has the id %2, and the tokenizers library gives it %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Sequence has no list %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is larger than 64 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has no model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading the checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>repairing %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of manifest.json differs from the tracker&apos;s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it belongs to run %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting the supervisor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>freeing the claims of dead workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>taking checkpoints back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verifying checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>removing leftovers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting the merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting the feeder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing telemetry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auditing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker was rebuilt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not proven when the tracker was rebuilt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rebuilding the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>opening epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>keeping a copy before the tracker is migrated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>migrating the tracker to version %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its numbers add up to more than any run has</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>syncing the WAL</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>creating the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>beginning an attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>revoking a worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>advancing the epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>publishing a snapshot of the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>taking a damaged checkpoint out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>taking a checkpoint back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out: the run went back to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>going back to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>opening a merge round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading what a checkpoint was trained on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>keeping the plan of the learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committing checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its process is gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claiming a chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>finishing %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out of merge round %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committing merge round %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing checkpoint %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>opening block %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: the prepared file is not the one that the tracker recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 has no chunk %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>looking up block %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 packs into %2 windows, the tracker says %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>these are not the weights of the counting model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluating: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training %1 on %2 (at most %3 in use): %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the GPUs cannot be used: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no memory left on the host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 has NaN or Inf in its weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 does not grow from the base of %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 stands beside other frozen weights than the replica that merges.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it has %1 tensors, not %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor %1 has no equal of its shape there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>precision is fp16, which needs a GPU; allowed on this device are auto, fp32, bf16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>device is %1, but this machine has no usable GPU; choose cpu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights and gradients of %1 do not fit on %2; lower layers, width or vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>creating the model: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved optimizer state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state has another shape or type than this optimizer needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state is unknown to this optimizer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sampling: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the benchmark was stopped before its first step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fit was stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the benchmark was stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>importing %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exporting to %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a type that safetensors cannot hold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; was given twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has no usable dtype, shape and data_offsets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has type &apos;%2&apos;, which is not supported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has an impossible shape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;: shape and type need %2 bytes, but its offsets give another size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the header is not a JSON object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is listed twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the header lists more than a million tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>__metadata__ is not an object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>__metadata__ &apos;%1&apos; is not a string</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; overlaps another one or leaves a gap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file holds %1 bytes of data, its header describes %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file is too short for safetensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the header length %1 is impossible for this file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing safetensors: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before this message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>where this message is the last</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold the questions this run began with (its SHA-256 differs): answers to it cannot be compared with those before. Put the original file back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines of %1 that are not questions and are left out: %2. The first: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of these (%2 of their %3 samples), which is kept: only the rest is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>accuracy %1 %, by length %2 %, where guessing gets %3 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exact match %1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; of %2 questions, by weights with %3 steps, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The questions of eval_tasks could not be answered: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a line of the input is not a JSON object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a line of the input has no text under &apos;%1&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(From here on: %1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>asking questions: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run of the benchmark is %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run of the benchmark ended with %1. What it said is in %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not say where the time went: the worker did not end cleanly.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 cannot be made: %2. Name another one with --folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no chunk: write BLOCK:CHUNK, for example 3:17.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk %1 has no sample %2: its samples are 0 to %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no chunk %1, or does not know it yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk %1 is not poisoned. &apos;furrowctl chunks list&apos; shows those that are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a file. Name the folder that keeps the runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 exists already. Name a new file with --out, or move that one away.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no completion for &apos;%1&apos;. Choose bash, zsh or fish.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 is not there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--set %1 is not key=value of a setting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read as settings: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 cannot be chosen: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no checkpoint %1 with files; the dry run lists those it has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no checkpoint %1; &apos;furrowctl resume --dry-run&apos; lists those it has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a file. Name a folder on the disk to try.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 lies in the run %2. Name a folder outside of every run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--checkpoint chooses the model of --format huggingface; what was measured is of the whole run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--data gives a loss and --tasks right answers: ask for one after the other.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is for --tasks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--type is for --format gguf.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a JSON array of token ids.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the id %2; the vocabulary of %3 ends at %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped before the tokenizer was trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No libtorch that fits was found in the active environment, in python3 or in /opt/libtorch. `furrowctl torch find FOLDER` looks elsewhere, `furrowctl torch install` brings one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>quarantine list &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>preset &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker cannot be written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not to be written by anybody: its permissions were changed. What needs to write it waits, and goes on once it can (`chmod u+w`).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker of %1 names process %2, which is none of the run; it is left alone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained twice in each epoch. Name it once if that is not meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained twice in each epoch. Leave one out if that is not meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more files are in the data more than once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 columns are called %2; the first one is read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is another column %1; write it so if it is meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so its lines are one; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE) if they are meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>more follows the mark of its end, as in archives that were joined</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>--checkpoints names a checkpoint twice: it would count twice in the average.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A run has at most %1 tags.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tag %1 is too long. Keep what is longer than a few words as a note.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is damaged. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no turn of the assistant that is to be learnt (weight 0, or train false)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The column history is not read: a row is one question with its answer. Write earlier turns as messages.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 sample is longer than a window; its end is cut off and not trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 samples are longer than a window; their ends are cut off and not trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 sample is longer than a window and is left out, among the filtered ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 samples are longer than a window and are left out, among the filtered ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was removed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was asked to end and is still held by a process that cannot be seen from here, perhaps in another container. It ends as soon as that goes on; else end that container.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its disk has room but can hold no more files (no inodes are left); remove some files and try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file is larger than its disk can hold; choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>files may not be larger than %1 here; raise the limit (ulimit -f) and start again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the two places are on different disks; move it by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not running: %2 works on it. Wait until that has ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The process that holds the run cannot be seen from here, perhaps because it is in another container. End the run there, or end that container.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in use: %2 works on it. Wait until that has ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in use: %2 holds %3 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its supervisor is silent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The worker is alive.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The worker is not alive.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run; its last heartbeat is %1 ago.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor (process %1, in another container) holds the run; its last heartbeat is %2 ago.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The numbers are those of an older snapshot, of %1, for the tracker cannot be read now. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an older snapshot is shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its disk can hold no more files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk of %1 can hold no more files (no inodes are left): nothing is saved until some are removed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link. Only runs go to the trash; remove the link yourself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Only runs go to the trash.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds several JSON documents that go over lines. Write one object per line (jsonl), or one list of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those without a worker keep their weights and are trained no further.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. Before the first step they are merged (%3), and each starts from the merge.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read cannot be used; the first: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are filtered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are repeats.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are longer than a window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read have bytes or escapes that are not characters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the tokens stand for characters that the tokenizer does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is the block %1 under another name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The %1 rows from row %2 of %3 on are one chunk of more than %4 of text: its rows are much longer than those around them. Begin a new run with fewer chunk_samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows of block %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 was prepared already and stays as it was planned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is named twice. Nothing was moved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a thread could not be made (%1): the limits on memory (ulimit -v) and on processes and threads (ulimit -u) leave no room for one. Raise them, or use fewer workers and threads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings that the tracker kept of attempt %1 were set aside, so that those of run.json hold. What a resume had changed must be given again. They could not be used: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker keeps settings of attempt %1 that a resume cannot use: %2 &apos;furrowctl doctor %3 --repair&apos; sets them aside, so that those of run.json hold.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings that tracker.sqlite keeps of attempt %1 cannot be read: %2 &apos;furrowctl doctor --repair&apos; with the folder of the run sets them aside; those of run.json hold then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: its %2 cannot be read (%3), though the hashes of its files fit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 keeps this of attempt %2. &apos;furrowctl doctor %3 --repair&apos; sets the settings of that attempt aside; those of run.json hold then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the settings of attempt %1 were set aside: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>setting the settings of an attempt aside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cause is %1 bytes long, allowed are %2: it is kept with each chunk and shown for it in every epoch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is a link to what is not there. Bring that back, or remove the link: Furrow makes a new file then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 should hold tags, notes and the queue, and is a database of another program. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Process %1, which the tracker names as a worker, trains in another folder: this one is a copy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The clock here is %1 ahead of that of the run; times are told by that of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The clock here is %1 behind that of the run; times are told by that of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there? The attempt waits for it, %2 at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has been gone for %2, so the attempt ends. Bring its disk back and resume: what the checkpoints have is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Until then the settings of the console are the built-in ones, and changes are not kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 of the data cannot be read now. Bring back the disk or share, or put the data back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The data changed since the run was made (%2), so its blocks would not be the same. Restore the data and resume, go on without what changed (resume with %3), or start a new run on the data as it is now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not answer: is its disk or share there? The run waits for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data cannot be read; what is prepared of it is trained meanwhile: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits for its data, and trains nothing meanwhile: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data cannot be read since %1; what is prepared of it is trained meanwhile: %2. Next try in %3 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits for its data since %1, and trains nothing meanwhile: %2. Next try in %3 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting for its data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Waiting since %2, trying again in %3 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epochs %1 to %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again; with %2 it goes on without it. Mended data is other data and needs a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far is characters that the tokenizer has no token for: they are dropped. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not a web address (http or https), and is not followed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has text after the closing quote of a field (record %2): it is kept as part of the field. Check whether a quote or a delimiter is missing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so all of it is one row, which is not JSON; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The filters leave no row of the data.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row of the data is left: the first one %1, and the filters leave none that can be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 characters of the samples that were read have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by what this program reads, no other one uses it, and %4 more are to be written. Raise cache_gib.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2 when it is unpacked, which is more than the whole cache may hold (cache_gib: %3). Raise cache_gib, or unpack the file yourself: a plain file is read where it lies.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a hidden folder (its name begins with a dot): the data files in it were left out. Rename it if they are meant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but the largest compressed file is about %3 when it is unpacked, and two prepared blocks of %4 samples take about %5. Raise it, or unpack the file yourself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are too long for a window: with the end-of-text after it a sample may have %4 tokens. Set it to split, or raise %5.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are held out: none is left to train. Lower it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None of the %1 samples of the data that pass the filters can be used: the first %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 characters of the text prepared so far have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no text in a column &apos;%2&apos;, which was found in %3 and counts for all files of a source. Its columns with text are: %4. Name a column that all of them have with text_column, name this file as a source of its own, or leave it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That is %1 % of them, and max_unreadable_percent allows %2 %: the run would stop. Mend the data, or set a higher limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text is column %1, the first one that can hold text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text is column %1: it has the most text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, not text. Only text can be trained: leave it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2. Save its table as csv and name that file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, not text. Save it as plain text (.txt) and name that file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not read. Write its texts as jsonl, csv or Parquet and name that file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, not text. Give it its right name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not open. Unpack it and name the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row %1 (line %2) of %3 %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 stream knows no samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 needs the gradient of each window alone, which is not known with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: without noise there is no guarantee.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is 0, but %2 is %3: an epsilon is one at a delta above 0, such as 0.000001.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which does not allow one epoch: that gives %3 with %4 %5, and needs noise of %6.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is sample, but %2 is 0: nothing is hidden without noise.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: noise hides a window only if its part is bounded, such as by 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is stream, which does not count how often a window is trained, but %2 is %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is on, but it follows losses that no noise hides; with %2 the rate follows %3 alone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, where a window holds parts of several samples, but %3 is sample; allowed is single.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is split, so that a long sample has several windows, but %2 is sample; allowed is cut or leave_out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 asks for several epochs, but %2 is window, whose text is another one in each of them where %3 is on. Allowed is one epoch, or %4 sample, or no shuffling.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The unit is a sample: a row of the data, in a window of its own. There are %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The unit is a window: %1 tokens, as they were trained together. There are %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated: something is wrong with the ledger, and so nothing proves how often a unit took part.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated: %1 is 0. A resume may set it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What else a run shows: losses, norms, samples that stand out, texts. No noise hides them. The guarantee is one of the weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The held-out text, which is not trained: evaluations show it, and so does who stops or chooses weights by them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the data decided before training: a tokenizer made from it, which rows were filtered, left out as repeats or held out, and how many there are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who is behind a unit: rows that tell of one person are so many units.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who knows the seed: the noise follows from it (%1, kept in run.json), by a generator that is not one of cryptography. Give away weights, not the run, and keep the seed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rounding of numbers: noise of float32 is not quite that of the theory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the weights were made from that the run began with (%1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon is %1 at delta %2, for one unit that is left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two runs are neighbours when they differ by one unit that counts as zero in every step. For one unit in place of another epsilon is %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each step adds normal noise of %1 times the norm that the gradient of a unit may have (%2). Any unit took part %3 times at most, by the history of claims; no chance of taking part is assumed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That counts %1 trainings of chunks whose weights are lost, for somebody may have seen them. Of the surviving weights alone: %2 times at most, epsilon %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated: the files are not what the ledger speaks of.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epsilon allows no unit to take part once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the gradient of each window alone is known of architecture gpt without experts only; allowed is 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the gradients of %1 of the windows %2-%3 are not finite: they count as zero</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no %1 in the current folder. The run of that name is %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A copy in the cache is damaged and is made or fetched again (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download %1 has other bytes than arrived (SHA-256).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold what arrived of %2 (SHA-256).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A fraction of %1 takes nothing of %2: it is drawn in whole stretches of the files, of which there are %3. Take a larger fraction, or max_samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 row of the evaluation text cannot be used and is not in it: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text cannot be used and are not in it; one of them: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 row of the evaluation text is filtered, as in training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text are filtered, as in training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: about %2 % of its rows are needed, and only the row groups with them are fetched, so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: a fraction is drawn in whole stretches of the files (row groups of Parquet). Of the %2 that there are, those that come nearest to %3 % are %4 % of the data.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of what is left out names chunk %1:%2, and the data has %3 blocks: this entry means nothing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow deletes nothing behind a link inside its cache. Remove the link.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The copy of %1 in the cache (%2) does not hold what is in the file. It is put aside and made again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold what was written into it (XXH3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ends too early</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They are read as U+FFFD; set encoding if the text has another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tokenizer has no token for these characters of the prompt: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 does not hold the files of the model that this run began with (SHA-256). Put them back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 &apos;furrowctl eval&apos; evaluates the weights of a run that nobody trains.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit of one epoch is reached: it is complete. The attempt would end at once; raise the limit, or turn on %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit of %1 epochs is reached: they are complete. The attempt would end at once; raise the limit, or turn on %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was started, and the epoch of %1 that is open stays as it is. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those that are added start from the newest merge, or from what the run began with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of them is left out whole, among the filtered ones: the cut takes all that would be learnt of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of them are left out whole, among the filtered ones: the cut takes all that would be learnt of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 text is not trained at all: its first row is left out, and the others are repeats of that row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 texts are not trained at all: their first rows are left out, and the others are repeats of those rows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 began.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The process that merged ended: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 ended: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 was started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 was interrupted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 ended: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 finished: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put the source back as it was when the run was made, to the byte, then &apos;furrowctl chunks retry&apos; and resume; or go on without these rows by &apos;furrowctl chunks accept&apos; and resume. Mended data is other data and needs a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the feeder ended: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run waits for its data since %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run has its data again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person asked for a stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person asked to kill the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is longer than 16 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is broken JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is broken JSON: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a text column that is not a string</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has fewer columns than the header</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has more fields than there are columns</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no file of that ending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has two files of one ending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is packed as its server sent it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>becomes no token: the tokenizer keeps nothing of its text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is a conversation, and the data set has no chat template</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a turn of the assistant without a token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no messages in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no turn of the assistant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is larger than a conversation may be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has tools that are not a list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 that is not an object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 that cannot be written as JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 of the assistant without text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 without a role</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 of the unknown role &apos;%2&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 without content</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 whose content is not text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a message %1 with a part that is not text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>comma</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>semicolon</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tab</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pipe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not an address that data can be read from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an Excel spreadsheet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a PowerPoint presentation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Word document</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an Office document</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an EPUB book</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an OpenDocument spreadsheet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an OpenDocument document</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none at all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a zip archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a sound, film or picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an SQLite database</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a document of an older Office</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an RTF document</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Parquet file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an encrypted Parquet file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an Arrow file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a Feather file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an Arrow stream</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an ORC file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an Avro file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an HDF5 file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a NumPy array</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a GGUF model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an xz archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a bzip2 archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a 7z archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a rar archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an lz4 archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a snappy archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a pickle file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a tar archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 made no progress since %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1 goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only %1 is free on the disk of this run; checkpoints need room.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk of the run has room again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the checkpoints are back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 were not trained on the same texts. %3: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>furrowctl inspect needs chunk: BLOCK:CHUNK, both from 0; or --unreadable.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a folder; move it away or choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the system has too many open files; end some programs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a folder, and a run keeps a folder there. Move away what has its name; nothing was changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not there. It was made with the run and there is no other: put it back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 samples of block %3 have bytes that are not UTF-8, as which %4 is read: they are not trained as they are meant. By these bytes it is likely %5 there; if so, stop, and begin a new run with that encoding (%6).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloading %1: %2, no byte for %3 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3, no byte for %4 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no columns: it holds no rows, or only blank ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights and optimiser state of %1 older checkpoints: --deep reads them too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints: the newest of each replica, and those that a resume takes moments of the optimiser or the outer state of DiLoCo from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For comparison with other programs only: had each of %1 steps drawn its units by chance (Poisson, %2 % each), epsilon would be %3. Steps here take units in turn, so that does not hold.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replica %1, which stands on a merge, takes the moments of its optimiser from there: without it they are those of an older checkpoint, or start afresh.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The replicas grew from it: without it their next merge is a plain average, and the outer state of DiLoCo starts afresh.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 holds other weights than when the run was made (SHA-256). Put those back, or start a new run from these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An epoch trains %1 tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An epoch trains about %1 tokens, judged from what was looked at.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved, which they can as soon as the tracker is free; what they cannot save within ten minutes is trained again after a resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved; what they cannot save within a minute is trained again after a resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon may be %1 at most, and %2 is spent: no unit may take part once more. The attempt would end at once; raise %3, or write 0 for no limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training: no unit has taken part in a step yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training: participations of any unit: %1 at most. No epsilon is said: %2 is 0.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, at delta %2; participations of any unit: %3 at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, of %2, at delta %3; participations of any unit: %4 at most, of %5.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 row is left out by name (exclude), among the filtered ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows are left out by name (exclude), among the filtered ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) means nothing: there is no such chunk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) met no row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 more entry of what is left out met nothing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more entries of what is left out met nothing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading which rows make block %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1 cannot be prepared: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the %2 rows read so far cannot be read: %3 %, and the limit is %4 %. The first: %5. Mend the data and begin a new run, or resume with a higher limit (%6).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 are here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 of %3 are here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor was asked to end (SIGTERM): shut-down, log-out, or a stop that the tracker could not take.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>some unit of the data takes part %1 times from here on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 is complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 is damaged: SHA-256 of %2 differs. Name another one, or put its files back from a copy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2: newer ones cannot be used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 stores rows in blocks of %2 numbers, and no matrix of this model has such rows (width %3): all would be f16. Export with --type f16, bf16 or f32.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You cannot run this queue, and nobody is seen to run it: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 waits in the queue. Take it out first (&apos;furrowctl queue remove %2&apos;).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained once, as repeats are left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained once, as repeats are left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run trains with noise. A tracker made anew, or taken forward, does not know every training that was lost before: no epsilon can be stated of the run any more, and no limit of epsilon be kept. A copy of the tracker that is whole and as new as the weights, put back in its place, keeps both.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 belongs to run %2, and by run.json this is run %3: it proves nothing about this one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Put the right one back; or &apos;furrowctl doctor %2 --repair&apos; sets this one aside and goes by what this run has of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 It is kept as %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 So no rule can end the run before a unit takes part once too often, and nothing was started. Write 0 for %2 to go on without that limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker was made anew or went on from an older copy, and the trainings that were lost before that are not in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker cannot be read, and its snapshot may be older.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its checkpoints cannot be written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 was begun and does not say when: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is marked as %2, and no event says so: its row was changed from outside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 ended otherwise by its row than by the events: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: claim %2 was trained, and no checkpoint has a part of it: a row was changed or taken out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 cannot save what it trains, and tries again: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1 has saved what it trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is locked by another process for too long; let it go on or end it, then try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is one JSON document, and its texts stand in a list of it. Name them with text_column, and each element of the list is a row (%2); or write one object per line (jsonl), and each is a row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has several JSON objects on its first line. Write one object per line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more blocks are not inspected: their source cannot be reached now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; of %2 files from elsewhere %3 have the SHA-256 that is promised of them, what was read of the others is what their server sends now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not one block could be prepared once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker %1 is not in WAL mode: it is a copy, not a live tracker; `furrowctl doctor %2 --repair` puts it into WAL mode and changes nothing else</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: it ends with attempt %3, the snapshot with attempt %4. What was trained and lost in between is not in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: by it a unit took part %3 times at most, by the snapshot %4 times. What was trained and lost in between is not in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 The run goes on by itself once it can be written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its supervisor writes nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor has written nothing to the tracker for %1, though it lives and nobody has locked it: the disk of %2 takes nothing, or answers no more. Look at the disk; the run goes on by itself once it can be written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No epsilon is stated:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run is being stopped. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run is being killed. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An invented run needs 1 to 1024 workers, 1 to 1000 attempts and a step for each worker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the machine was restarted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person stopped the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>invented by furrow --synthetic: no model was trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be written: check space and permissions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache %1 belongs to %2, who alone can verify or trim it. `furrowctl cache list` shows what is in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: it ends with attempt %3, and there are files of attempt %4. What was trained and lost in between is not in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers train on to the end of their chunks. Continue (`furrowctl continue`) takes it back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 block, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an older tracker was put back: only files of this attempt are left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No process runs the queue. &apos;furrowctl queue start&apos; starts one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: a person left %3 out there, and it does not know of that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 holds %2 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 runs it. Let it go on, or end it and start the queue again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: what it had from row %2 on came into no block, so nobody knows how many rows that were.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is in the data twice, by %2 and by %3: each of its rows would take part twice in an epoch, and private training would state half of that. Name it once, or train the first of equal texts alone (%4).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the content of %2: each of its rows would take part twice in an epoch, and private training would state half of that. Leave one of them out, or train the first of equal texts alone (%3).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is again as it was when the run was made. Epochs that open from now on train it, but for rows that never came into a block or were taken out of one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merged 1 replica into %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2, of replica %3: its own are gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoints in %1 are of two lines: the tracker knows one of them, and newer ones do not grow from its newest weights, as after a resume --from-checkpoint: %2. Nothing was changed. Put the newer tracker back if you have it; &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on from what this one knows and moves the others to checkpoints/unknown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out with its file: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>asked to stop before all ranks had come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a rank came to the meeting and has left it. All ranks end and start again together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks that a person had left out would be trained; they are left out again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the server sends nothing of a file that has %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: config &apos;%2&apos;, split &apos;%3&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a small .json in the root of hf://%2, as descriptions of data sets are, and was left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the files in %2 are not records of what was left out of this run, %3 for one. If one was damaged, a tracker that is older than it would train its chunks. Compare the chunks that &apos;furrowctl audit RUN&apos; calls excluded, and move the file away.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put the newer one back if you have it. &apos;furrowctl doctor %1 --repair&apos; takes the snapshot in its place where that is newer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; %2 of its %3 windows are in the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out, for it cannot be read: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is text by its name, and is trained as it stands, though its lines are JSON objects. Name it .jsonl to train a column of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A fraction of %1 takes no row of %2. Take a larger one, or max_samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is binary, not text. If it is text with control characters in it, name its encoding, such as utf-8, with --encoding.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taken forward from the manifests in %1, the tracker would give up newest weights that it knows: %2. Nothing was changed. &apos;furrowctl resume %3 --accept-loss&apos; goes on from what the tracker knows and is whole, and moves what it does not know to checkpoints/unknown; &apos;furrowctl doctor %4 --repair --accept-loss&apos; gives them up, and %5 of %6 known chunks are trained then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks that a person left out are in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In %1 lie manifests of this run that the tracker %2 does not know: %3, the newest %4 (step %5, %6). It knows newer ones too: the folder holds two lines of the run, or the tracker was put back from a copy.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the history of events: from which state to which chunks moved, when and why; and why claims ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a block how many of its rows repeat others, had bytes that are not UTF-8 or could not be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is left out already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (stopped)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (%2, stopped)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the attempt begins when it lets go. Let it go on or end it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run and has begun no attempt yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds %2 and is not a program of Furrow: until it lets go, no attempt can begin.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is free, and surviving checkpoints have all of its windows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 says that it has tracker version %2 and has tables of a newer one: it was changed from outside; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block %1 was prepared again and has other content than what the run was given, which is there no more: its text cannot be shown. `furrowctl audit RUN --deep` says what the source has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a replica whether it rests, and which of the newest weights it stands on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder %1 is not there, and process %2 still supervises a run in it: its disk was taken away meanwhile, or the folder was moved. Bring it back and the run goes on; or end that process: what no checkpoint has is trained again after a resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no cache: nothing was prepared or fetched there yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>says that it comes in chunks, and these are broken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lies where the file is damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its rows are lists, and in a list no column can be named. Write each object of them as a row of its own, all in one list or one per line (jsonl).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: none of its first rows is a JSON object with members, the first begins with %2. Write each row as an object with a member that holds its text, one per line (jsonl).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 What cannot be read is left out (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a zip archive with %2 of something else before it, such as the program of one that unpacks itself. Unpack it and name the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns with text are: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet in its rows %2 to %3, counted from 0 (%4). Fetch or write it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds several JSON documents: a second one begins at byte %2, after the end of the first. Join them in one list, or write one object per line (jsonl).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the source goes on after block %1, which the tracker calls the last one: blocks were taken out of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepared blocks of wrong bytes that were put aside in the cache (*.bad-*), where other runs over the same data would have found them: %1. Each is made again when it is needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker&apos;s record of run.json was taken out or cut: nothing proves run.json any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The manifests of %1 checkpoints are gone from %2, that of %3 for one: nothing but the tracker proves any more what they trained, and no repair can make it anew. Put them back from a copy of the run if you have one; it goes on without them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 proves nothing: its manifest is not the one that checkpoint %2 was made from, so one of the two was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what was rebuilt does not pass the audit, so nothing was changed: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what is left does not prove what the newest weights hold: %1. Nothing was changed. Put what is missing or was changed back from a copy of the run, or its newest tracker.sqlite, and repair then</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, a record of what a person left out, is damaged: a tracker that is older than it would train those chunks. Nothing was changed. Put it back from a copy of the run and resume; or, when &apos;furrowctl audit %2&apos; calls all of these chunks excluded, move it away; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has another number of entries than parents</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An epoch trains at most about %1 tokens: what of them repeats other texts, or is left out by name, is known when its blocks are prepared.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Where that one is not at hand, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All of epoch 1 is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What block %1 was first prepared from is not what its source holds: %2 is as it was when the run was made (its hash was compared), so it was read or transferred wrongly then. What was trained of it stays in the weights. Accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block %1 has other content than when it was first prepared. By its server %2 is the same file, and nothing tells whether what came of it is right: one of the two transfers was wrong. &apos;furrowctl audit RUN --deep&apos; reads it once more. If that finds the block wrong, accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run; else try it again (&apos;furrowctl chunks retry&apos;).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its block has %2 chunks; the number of the chunk or the row of the block was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 has %2 of the %3 chunks of block %4: rows were taken out, or have the number of another chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its %2 samples with %3 tokens do not make %4 windows: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 is marked as one that is still being opened, which only the newest can be, and never the first: its row was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the table %1 has %2 rows, it must have one; &apos;furrowctl doctor %3 --repair&apos; makes the tracker anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the events close %1 epochs, and %2 are marked as closed; &apos;furrowctl doctor %3 --repair&apos; counts anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the meter %1 of epoch %2 says %3, the rows of its chunks say %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker has no row of block %1, and one of block %2; &apos;furrowctl doctor %3 --repair&apos; plans the data anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker counts %1 known blocks and %2 prepared ones, it has %3 and %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the total %1 of the run says %2, its chunks, claims and parts say %3; &apos;furrowctl doctor %4 --repair&apos; counts anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker lacks its control row; run `furrowctl doctor %1 --repair`</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 It came so %2 times in a row and is not fetched again in this attempt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It could not be asked whether the files of %1 are as they were when the run was made. What of them lies in the cache is trained, the rest is waited for. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 other rows of block %2, which was prepared with them: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 With them %2 other rows are left out, which were prepared together with them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a link to %2, where nothing is; bring that back (mount its disk), or remove the link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not asked: the secret that goes with the request has a line break or another control character in it. Set it again (HF_TOKEN, or the keys of the store), as one line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The next resume makes it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the source: the list of duplicates, %1, is not there or is damaged, and without it no block can be prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block %1: its plan has the same place of its source twice, or ends before its own rows do: it was changed by hand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 goes on after block %2, which the tracker calls the last one: blocks were taken out of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker calls its data complete with %1 blocks, and its last snapshot (%2) knows %3: blocks were taken out of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which chunks the parent run trained is taken from parent.json, which nothing proves: this run was made by a version that kept no hash of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, which are left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, which are trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunks of block %1 that the parent run trained: by the tracker %2, by parent.json %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not the one that this run began with: %2. It says which chunks the parent run trained. Put it back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the chunks of block %1 are written as nobody writes them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunks in its list: %1, by its own count: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the hash of its list is not the one that run.json keeps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tracker and parent.json disagree (%1), and nothing proves one of them. Chunks would be left out or trained by the wrong one. Put a copy of %2 or of %3 back from before.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the list of the chunks that the parent run trained was changed, and parent.json cannot say how: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 has another manifest by the tracker than by its last snapshot (%2): one of the two was changed by hand, or the manifest together with the tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>which chunks the parent run trained, but for tracker and parent.json against each other: this run was made by a version that kept no hash of the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest and the tracker back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and nothing says so any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with 1 chunk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Its chunk is free again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains none again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains %1 again: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a person stopped it, and %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it was asked to end (SIGTERM: a stop, a shut-down or a log-out), and %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). It has said nothing for %3. SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, in about %4, or as soon as others wait for it, it is ended and started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the feeder stands still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The feeder stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then no block is prepared. When workers wait for data, it is ended and started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resuming asks for it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the supervisor ended it: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it ended its work and did not exit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it stood still while it started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ended: %2. See %3 for more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: its block has 1 chunk; the number of the chunk or the row of the block was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 leaves out 1 chunk that the parent run trained (parent.json names it)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk of epoch %1 is in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 is closed although 1 chunk is left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1 is not older than what round %2 of merging gave, and is said to have been given to it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker process %1 is said to have contributed to round %2 of merging for a replica that it did not train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, and its last event says that it is %3: its row was changed from outside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the tracker had other rows, windows or tokens than its block; they were stored anew from it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no tracker %1; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left untrained by name: %1 in %2, %3 in %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a folder, and a workspace keeps a folder there. Move away what has its name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker is locked by another program, %1. Let it go on or end it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk that a person had left out would be trained; it is left out again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk that a person left out is in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The run is still being trained. To stop it, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 as its worker ended before a checkpoint had it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 as their workers ended before a checkpoint had them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 as the run went back to an older checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 as the run went back to an older checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 as the checkpoint that had it was damaged, gone or left out of a merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 as the checkpoints that had them were damaged, gone or left out of a merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read cannot be used: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is filtered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is a repeat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is longer than a window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read has bytes or escapes that are not characters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 more block is not inspected: its source cannot be reached now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 block prepared once more from %1 of text, and the fingerprints of its samples, chunk by chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>who wrote 1 checkpoint and its loss on held-out text: its manifest is of a version that did not keep it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights of 1 checkpoint that the run itself removed, or left, while it was inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of 1 more checkpoint could not be inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifests of %1 more checkpoints could not be inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The manifest of checkpoint %1 is gone from %2: nothing but the tracker proves any more what it trained, and no repair can make it anew. Put it back from a copy of the run if you have one; it goes on without it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 of the kept chunks is left out by name, as its steps were not finite: nothing of it is in the weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of the kept chunks are left out by name, as their steps were not finite: nothing of them is in the weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples of such parts that are left out by name, as their steps were not finite: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 worker is still alive. What it saves before it ends is kept too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after a block; 1 known chunk of the epoch is left, and what was not read yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after a block; 1 chunk of the epoch is left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 row of block %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk of %1 has %2 free, and %3 are needed: %4 of them stay free for the tracker. Free some space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put the keys into the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put an access token into the environment variable CLOUDSDK_AUTH_ACCESS_TOKEN, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It takes longer to see whether the files of the data are as they were when the run was made. A resume reads all of them for that, and ends or leaves out what changed (%1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples that the start weights have and that are trained again, since the parent run trained their chunks in part: %1, chunks: %2 (by parent.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the optimiser steps of claims (%1) one after the other, and those of their parts against the steps of checkpoints (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has the tracker of a run and no run.json: it was deleted or moved. Put it back from a copy of the run; nothing else says which files the run was made of.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is the folder of a run. Name one of its checkpoints, as --init-from %2/checkpoints/NAME; `furrowctl brain show %3` says which is the newest.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name of the folder of the run holds what looks like a password or a token, which would be shown everywhere. Name another folder with --out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name of a data file holds the secret of the environment variable %1, which would be kept in the run. Rename the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name of a data file holds an address with a password or a signature in it, which would be kept in the run. Rename the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files that changed: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 A resume with %2 leaves out by name what is not prepared of that. Chunks of the epochs that are open: %3; rows of other chunks: %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not all of the data is in blocks yet. What it leaves out of the rest is not known, and is not counted here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 A run that needs it waits for its disk or share.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run goes on without what could not be read: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of the chunks that are left out (%2 of their %3 samples), which is kept; the rest is not trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All epochs before epoch %1 are kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what was trained since the last checkpoints is trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with 1 step; %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens that are trained too, for the data is too small to hold text out; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens of held-out text; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is running. Stop it first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The workers are started again, together, at %1, once all of them have ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The workers were started together at %1; not all of them have begun yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 was started at %2 and has not begun yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1 is started again at %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The newest weights are read before the worker that gave up is started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the tracker in one moment: the states, claims, parts and checkpoints of its chunks (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is to be trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it was given out again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it was trained again, and no checkpoint has it yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it was trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it is %1 now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trainings of %1 lost with their weights: %2; %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no further epoch is to be trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left out because the parent run trained them: %1 in %2, %3 in %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the first epoch that %1 trained and no weights have any more: %2. They are not compared.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was made of other data.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (stopped) of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (%2, stopped) of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1 (%2) of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoints that are no longer needed can be removed again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied: %1 is yours, and its rights keep you out; give them back (chmod -R u+rwX)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2 and is for the group %3, which you are not in; they or an administrator can add you; log in again afterwards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied: the folder %1 belongs to %2, who can let a group enter it (chmod g+x)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group read it (chmod -R g+rX)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group write it (chmod -R g+rwX); or choose another place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is lost: the right to read it is all that is missing. Grant it, then resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 cannot be read: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows from row %2 (counted from 0) of %3 on cannot be read: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data has too few samples (%1): blocks of %2 would be fewer than %3, so a block has %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Blocks with rows of it, which could not be inspected: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 The run left out by name what was not prepared of it. Blocks that were prepared before, and are compared with nothing: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 It is not the file that the run was made of. Blocks with rows of it, which could not be compared: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (checkpoints have a part of %2 of these: %3 of their %4 samples are kept)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be written; check the permissions of its folder, and whether its disk is read-only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be opened; check the permissions of its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The queue is run by %1, who may not write %2 and could never start it. Let the group write it (chmod -R g+rwX), or add it when that process has ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has the same answer as chosen and as rejected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a text and a list of messages as its two answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no prompt: its chosen and rejected messages differ from the first on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has no turn of the assistant in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>is not a pair of answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, which does not work with %3 %4; allowed is %5.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is 0, but %2 %3 compares the model with its start weights, which are there only beside the pairs of LoRA. Set it, such as to 16.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, but %3 %4 reads the columns chosen and rejected, and prompt. Leave it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is text, and %2 needs pairs of answers: rows with the columns chosen and rejected, and perhaps prompt. Write them as jsonl, or leave that setting out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has not the columns chosen and rejected, which %2 needs. Its columns are: %3. Name a file of pairs, or leave that setting out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds pairs of answers, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answers of %1 are messages, and there is no chat template that writes them. Name one with chat_template, such as chatml.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), written by the chat template: the chosen one is learnt to be preferred.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), texts as they stand: the chosen one is learnt to be preferred.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 holds pairs of answers (columns chosen and rejected). %2 learns from them which one is preferred; %3 trains the chosen ones as plain text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 pairs of answers that pass the filters are too long: an answer with its prompt may have half of that, less one token. Raise it, or set %4 to cut.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 pairs that are trained too, for the data is too small to hold any out; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 held-out pairs of answers; %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 pairs that are trained too, for the data is too small to hold any out; %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 held-out pairs of answers; %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>margin %1, the chosen answer is preferred in %2 % of %3 held-out pairs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pairs of answers are compared with the start weights of a run, and this model does not have them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 has pairs of LoRA of its own, which the reference would lack. Export it (&apos;furrowctl export --format huggingface&apos;) and start from that folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As many blocks are complete as %1 wants: %2. The attempt would end at once; raise it, or write 0 for no limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2&apos; says whether it can be made again; else put it back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The evaluation set %1 is damaged. &apos;furrowctl doctor %2&apos; says whether it can be made again; else copy the file from a backup, or start a new run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SHA-256 of the manifest, also against what its children name, and who wrote it, kind, step, tokens, size, loss on held-out text and parents of each of %1 checkpoints behind the newest weights (%2 of them without weights, as the keep policy wants); and whether there are checkpoints that the tracker does not know</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, the frozen weights of checkpoint %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, the frozen weights of %2 checkpoints (the newest is %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, is not what was written: its size or SHA-256 differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, could not be inspected: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows of trained chunks had other fingerprints of their samples than their blocks, which the source gives as they were recorded; they were taken from these (%1; the first: %2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text against the data, which lie elsewhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Setting the held-out text aside once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text against the data: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text against %1, which gives another one now: nothing says what it was when the run was made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text against the data: Furrow %1 set it aside, and this one would set another one aside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text in %1 is not what the data of the run give: it was changed together with its hash in run.json and tracker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what the data gives now is another text (its SHA-256 differs): it has changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is gone or damaged, and cannot be made again: %2. Bring the data back as it was and repair then; or put the file back from a copy of the run: one of the same data and settings has it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was gone and was made again from the data: its SHA-256 is that of the beginning.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was damaged and was made again from the data: its SHA-256 is that of the beginning. The damaged file is kept as %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the child as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the parent as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: one of the two was changed together with its row in the tracker, and nothing tells which</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is of another run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the manifests of newest checkpoints (%1) against the last snapshot of the tracker, which alone speaks of them too: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is older than they are, or than the tracker that was made anew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the held-out text against the data: --deep reads them too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, the hashes of tokenizer and held-out text, and that text set aside from the data once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints of %1 contradict each other: %2. Nothing was changed. Put both and the tracker back from a copy of the run and resume, or go back to a checkpoint that is older than both; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded; as a whole the block is what it recorded, so its row of the chunk is wrong</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With it none of the checkpoints that the tracker knows is there and whole any more: training would begin from the start weights. Chunks that it has as trained and that would be trained again: %1. &apos;%2&apos; shows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With it training would begin from the start weights, for the tracker knows no checkpoint. &apos;%1&apos; shows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With it training would go on from %1. Chunks that the tracker has as trained and that would be trained again: %2. &apos;%3&apos; shows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2 --repair&apos; makes it again from the data where that has not changed; else put it back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not the held-out text this run began with (its SHA-256 differs): losses on it cannot be compared with those before. &apos;furrowctl doctor %2 --repair&apos; puts it aside and makes the original again from the data where that has not changed; else put that back from a copy of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints that the tracker knows lay in %1 and were moved back: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run folder holds two lines of the run. The newest checkpoints that the tracker %1 knows lie in %2, where a resume by another tracker moved them: %3. In %4 lie manifests of the other line, which it does not know: %5, the newest %6 (step %7, %8).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To go on with the other line, put the tracker back that knows it. To go on with this one: &apos;furrowctl doctor %1 --repair --accept-loss&apos; moves its checkpoints back and those of the other line to checkpoints/unknown. &apos;furrowctl resume %2 --accept-loss&apos;, with a larger stopping rule where the tracker has come to its end, does so and trains on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes them into the tracker where they belong together; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes the tracker forward from the manifests; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;furrowctl resume %1 --accept-loss&apos; goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a chunk how often its training was lost or failed; and, unless its prepared block is there, before it is trained the fingerprint of its samples and, where they do not lie end to end, into how many windows and tokens it packs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the objectives differ, so losses cannot be compared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nats per pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 have different objectives: their losses, %3 and %4, say nothing of each other.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CurvesLayer</name>
    <message>
        <source>%1 off scale</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ErrorText</name>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something is missing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file is damaged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk error.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Network error.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another process is using it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a bug in Furrow.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not allowed.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FormField</name>
    <message>
        <source>%1: %2 can be read in two ways. Write %3 or %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a whole number, and %2 is not read as one here. Write %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a number, and %2 is not one here. Write %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a whole number of %2 or more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a number of %2 or more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a whole number from %2 to %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 must be a number from %2 to %3.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>First steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk, block, batch and context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why does this say “interrupted”?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What a resume does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the coverage map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers, replicas and merges</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What each setting does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>may change on a resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>may change, but curves before and after cannot be compared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fixed: another value needs a new run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“Start demonstration run” trains a small model on a text that comes with Furrow, on the CPU. Watch the loss fall, stop it, resume it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For a run of your own press Ctrl+N, then choose a preset and your files. Mistakes are named beside their field, with the fix as a button. Launch starts at once, Queue waits until the devices are free.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Closing this window never touches training. Open it again and it shows what happened in the meantime.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+K finds every command, Ctrl+/ shows all shortcuts.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A &lt;b&gt;sample&lt;/b&gt; is one text from your data. A &lt;b&gt;chunk&lt;/b&gt; is what one worker claims at a time, a few thousand samples. A &lt;b&gt;block&lt;/b&gt; is several chunks that are fetched, cleaned and cut into tokens together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The &lt;b&gt;context&lt;/b&gt; is how many tokens the model sees at once, the &lt;b&gt;batch&lt;/b&gt; how many such windows go through it in one step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU memory depends on batch and context (and on the model). It does not depend on the size of chunks: a chunk is only read piece by piece. Small chunks take a little time to claim; with large chunks a crash between two checkpoints costs more work, and one bad text marks more of its neighbours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state of a run is never stored. It is worked out each time from what can be seen: is the supervisor process alive, when did it last write, did it record why it ended?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“Interrupted” means: no process of the run is alive and none recorded an end. The computer was switched off or restarted, or the processes were killed. “Why?” beside the state shows the evidence.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is broken. What is in a checkpoint is kept; what was trained after it is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“Resume…” first shows a dry run: how many chunks are kept, trained again or free, and every checkpoint with the result of checking its files. Nothing changes until you confirm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run goes on as a new attempt in the same folder. You may change devices, number of workers and stopping rules; what would change the chunks or the weights is refused by name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each row is a block, each cell a chunk. The line at its lower edge says committed, the notch at the upper right trained but not in a checkpoint yet, hatching that its work was lost and comes again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By default the colour is the loss above or below the trend of the run, since the loss itself only shows when a chunk was trained. Cells that stand out hold unusual text: drag over them and read their samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl and wheel zooms, the arrows move, Enter opens the samples. “Table” shows the same as numbers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each worker trains its own copy of the model, a replica, on its own chunks. From time to time, and at the end, the replicas are merged: their weights are averaged by the tokens they trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“Start from” offers older checkpoints too. What is newer then leaves the weights, and its chunks are trained again, once: the map and the counts show the cost before anything happens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A run that you do not want to continue can be marked as finished; it can still be resumed later. A run can also resume by itself after an interruption, if you say so in the dialog or in the Run menu.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A checkpoint that is damaged, or on a disk that is not mounted, is never given up without your consent: bring it back and resume, or tick the box that says how many chunks are trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A chunk counts as trained once when it is in one replica before a merge, or in the merged weights after it. “Chunks twice or missing” proves it from the ledger at any time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“Cannot be read” means: the folder was moved or deleted, its disk is not mounted, or a newer Furrow made it. What was last read stays on screen with its time, and nothing can be done with the run until the folder is back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where several epochs are open, or are opened again, a table says for each how many chunks are kept and how many are trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The page “Chat” talks with the model while it trains: the newest checkpoint answers, or two of them side by side. It uses one CPU thread while the run trains.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A &lt;b&gt;source&lt;/b&gt; is a file, a folder, a pattern such as texts/*.txt, or an address (hf://, https://, s3://, gs://). Separate several with commas; put a name with a comma in it in double quotes. What of a folder is left out is named below the field.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Formats&lt;/b&gt;: txt, csv, tsv, jsonl, json, parquet, arrow, warc and WebDataset, also compressed (.gz, .zst, .xz, .bz2) and in .zip and .tar. A Word, Excel or PDF file is none of them: save it as plain text or csv.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Columns&lt;/b&gt;: one column is trained. A usual name is taken (text, txt, content, sentence, document, article, body, also as the last part of a nested name, meta.text), else the column with the most text. The form says which one it is and why, and offers the others. All files of one source have the same column.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Encodings&lt;/b&gt; such as UTF-16 or Windows-1252 are found from the bytes and said; so are the delimiter and the quotes of csv. The settings “Encoding” and “CSV …” name the right one where that is wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Conversations&lt;/b&gt; (messages, ShareGPT, Alpaca, prompt and completion) are trained as such when there is a chat template: it writes them, and only the answers are learnt, which stand between « and » in the form. Without one they are plain text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Rows&lt;/b&gt; count from 0: row 0 of jsonl is line 1, row 0 of csv the first one below the names of the columns. A row that cannot be read is left out and counted, and the first one is named; the samples of a chunk name the others. Rows that are empty or too short are filtered. When more rows cannot be read than &lt;code&gt;max_unreadable_percent&lt;/code&gt; allows, and at least ten, the run stops.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Changed and removed files&lt;/b&gt;: a file that is not any more what it was when the run was made stops the run, or what of it is not prepared yet is left out by name, as &lt;code&gt;bad_files&lt;/code&gt; says. It may be changed on a resume, and so may max_unreadable_percent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Repeats&lt;/b&gt;: with &lt;code&gt;duplicates&lt;/code&gt; set to skip only the first of equal texts is trained; else all are trained and counted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;code&gt;clip_per_sample&lt;/code&gt; bounds what one window, or one sample, may do to the weights in a step. With &lt;code&gt;noise_multiplier&lt;/code&gt; each step adds normal noise of that many times the bound, and what the weights can tell of one unit is limited: epsilon at delta.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon follows from how often a unit took part, which the ledger counts: once an epoch, and once more for each training that was lost with its weights. No chance of being drawn is assumed. The audit states it, with the unit, what neighbours are, and what the guarantee does not speak of: losses and samples that the run shows, the held-out text, the tokenizer, the seed of the noise.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows are units with &lt;code&gt;privacy_unit&lt;/code&gt; sample: then &lt;code&gt;packing&lt;/code&gt; is single, and a row that is too long is cut or left out. &lt;code&gt;target_epsilon&lt;/code&gt; ends the run before a unit takes part once too often. Large steps help: the same noise is shared by more windows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DiLoCo makes an outer step from that average, which looks ahead for training that goes on. Its last round keeps whichever evaluates better, the outer step or the plain average. A single replica is never kept, even where it evaluates better alone: its weights lack what the others trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;b&gt;Tokens per second&lt;/b&gt; of a worker are all tokens of its steps over all the time they took: a wait for data counts, a pause, an evaluation, a merge and a restart do not. Workers add up, in the chart as on the overview. “Kept tokens per active second” go by the whole active time instead.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LibraryTable</name>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Group</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks committed, latest epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>NewRunPage</name>
    <message>
        <source>Set to %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Overflow</name>
    <message>
        <source>More commands</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>QPlainTextEdit</name>
    <message>
        <source>This token: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>QueueDock</name>
    <message>
        <source>waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device and run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1, needs %n device(s)</source>
        <translation>
            <numerusform>%1, needs %n device</numerusform>
            <numerusform>%1, needs %n devices</numerusform>
        </translation>
    </message>
    <message>
        <source>left the queue: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Replay</name>
    <message>
        <source>As it was at %1, from the ledger and the telemetry.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunBanner</name>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint has been written yet: a resume starts from the beginning.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints hold %1 of %2 chunks of %3; the newest is from %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No whole checkpoint is left: a resume starts from the beginning.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunReport</name>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss on held-out text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Curves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1: %2 → %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings in force that differ from the preset %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings in force</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Setting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In force</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed by a resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows that cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows filtered</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks that cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples left out as repeats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples left out, their steps were not finite</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SamplingFields</name>
    <message>
        <source>0 always takes the likeliest token; above 1 the text becomes wilder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Among the likeliest (top-k)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SaveFile</name>
    <message>
        <source>Replace file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a folder. Write the name of a file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 exists already. Replace it?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it holds now is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No, keep it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Schema</name>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the run is called in the library and in its folder name. Empty: made from preset and data.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Source</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What a sample of a plain text file is: a line, a paragraph between blank lines, or a span of span_bytes with newlines kept. &apos;stream&apos; takes random windows of one file and keeps no ledger; it exists for comparisons with other programs. &apos;auto&apos; is lines.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text column</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Consecutive samples that are prepared as one unit. Lowered by itself for small data, so that there are some blocks to shuffle.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples that one worker claims at a time. It does not change GPU memory: batch size times sequence length does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk size, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A chunk ends early when its text would become larger than this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Span</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length of a sample in data mode span.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the samples kept for evaluation, chosen by a hash of their text, so that equal texts fall on the same side.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shortest sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>characters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shorter samples are filtered, counted and never trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ASCII only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter samples with any other character.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate texts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>report: texts that occur again are trained, and counted inside a block. skip: of equal texts in the whole data set only the first one is trained, the others are counted and left out. For that all data is read once before training begins; what comes from the hub is downloaded then, and once more where the cache is too small to keep it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Claim chunks in an order drawn from seed and epoch; off: in source order.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shuffle window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks are shuffled inside groups of this many blocks: consecutive ones in the first epoch, blocks from anywhere in later ones. About two groups are kept prepared. From 24 on the order mixes within 5 % of a full shuffle.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Skip this many samples at the start of each source (of its fraction). They do not belong to the epoch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fraction</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use only this share of each source, drawn with the seed: row by row in small files, else in stretches (row groups of Parquet, 64 KiB of text of the hub), so that the rest need not be read or downloaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With several sources: a number for each, how much text of it comes first in the first epoch relative to the others. It does not change how often a source is trained. Empty: sources end together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk that prepared blocks and downloads of this workspace may take.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepare ahead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocks that are prepared before a worker asks for them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>gpt: a transformer as GPT-2 or Llama. hrm: the hierarchical reasoning model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transformer blocks; for hrm the blocks of each of the two modules.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Width</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size of the residual stream. The number of heads must divide it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attention heads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key-value heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Feed-forward width</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Positions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>learned as in GPT-2, or rotary.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rotary base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base of the rotary angles: 10,000 in most models, 500,000 in Llama 3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Normalisation before each part of a block.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Norm epsilon</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Added to the variance in norms. 1e-5 in GPT-2, 1e-5 or 1e-6 in Llamas.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Activation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Biases</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bias vectors in linear layers and norms, as in GPT-2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The output layer shares the embedding matrix.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Probability with which activations are dropped while training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Experts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active experts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Experts that each token visits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Low layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Expansion</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: size of the feed-forward part as a multiple of the width, before the factor 2/3 of SwiGLU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>High cycles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: turns of the slow module in a segment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Low cycles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: turns of the fast module in each turn of the slow one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Segments, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>segments</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: segments after which a row halts in any case.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exploration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: share of rows that must think for a random number of segments while training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LoRA rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LoRA alpha</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sequences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Windows in one micro-step of one worker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accumulation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Micro-steps whose gradients make one optimiser step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peak learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate after warm-up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Final learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the schedule ends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own optimiser steps of a worker over which the rate rises from 0.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the rate falls after warm-up. It follows the tokens of the whole run, so all workers are at the same place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Schedule length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TF32</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On a GPU, compute fp32 products with TF32: faster, with 10 bits of precision. Deterministic runs do without.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attention kernel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which kernel computes attention. auto: the fastest one that fits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recompute activations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute each block again in backward and keep its inputs only: much less memory for about a third more time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adaptive rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lower the rate by 30 % whenever the mean loss of 64 steps is clearly above that of the 64 before, and raise it again while it falls. Stays within 10 to 100 % of the schedule; each change is an event.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Averaged weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto (all GPUs, else the CPU), a list of GPU numbers or UUIDs, or cpu:2 for two workers on the CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>independent: each worker trains its own chunks and its own copy of the model, merged from time to time. data: all workers train one model; each step is split over them, as if one worker had a batch so many times as large.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With parallel data: how long the workers wait for one that does not take part in a step. Then all of them end, name it, and start again together from the last checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restarts, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How often a worker that died is started again in one attempt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passes over the data. The first stopping rule that is reached ends the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Iterate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Begin another epoch whenever one ends, until another rule stops the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work that a crash can cost. &apos;minutes&apos; of training between two checkpoints of a worker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest checkpoints kept for each replica; the best one and pinned ones stay as well.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>adamw, adamw8bit (its moments take a quarter of the memory), adamatan2 (no epsilon, scale free) or sgd with momentum beta1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decoupled, on matrices only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decay of the mean of gradients.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decay of the mean of squared gradients.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Added to the root of the second moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bad steps, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in a row with NaN or Inf, each left out, before the worker goes back to its last checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluate every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batches</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>batches</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batches of one evaluation, at most; always the same ones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sample every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merge every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Outer rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DiLoCo: rate of the outer step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Outer momentum</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DiLoCo: Nesterov momentum of the outer step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of weights, order and sampling.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deterministic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Same claims, same bytes on a GPU too. Slower there; the CPU is always deterministic.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation and sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merging</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seeds and determinism</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU, words after two minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU, width 384</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>8 layers, 256</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>8 layers, 384</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>12 layers, 768</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>24 layers, 1,024</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2+2 layers, 128</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2+2 layers, 256</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2+2 layers, 384</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2+2 layers, 512</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>4+4 layers, 512, as published</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2+2 layers, 768</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>4+4 layers, 1,024</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the parent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With init_from of a run on the same data: train everything in a new pass (again), or leave out of the first epoch what those weights have seen in a pass that was not over (skip).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file, folder or hub split to evaluate on, such as hf://wikitext:wikitext-2-raw-v1:validation. Nothing of the training data is held out then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPT char, 4 layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPT char, 6 layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of matrix products; weights are float32. auto: bf16 on GPUs, fp32 on CPUs; bf16 pays on AMD processors with AVX512-BF16. fp16 needs a GPU and scales the loss by itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End with the epoch that is being trained when the run starts or is resumed, also with iterate.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the characters of text files are stored: utf-8, windows-1252, utf-16le, shift_jis, gb18030 or any other name ICU knows. auto: found from the bytes and said; what is not UTF-8 is converted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV delimiter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What stands between the fields of csv files: one character, or comma, semicolon, tab, pipe, space. auto: found from the first records.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV quote</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What stands around fields of csv files that hold delimiters or line ends: one character, or none. auto: the double quote.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV escape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A character that takes the meaning from the one after it in csv files, or none (a quote inside quotes is doubled). auto: a backslash where the first records show it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV header</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The first record of a csv file names its columns. Off: it is data, and the columns are called 1, 2, 3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed or damaged files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unreadable rows, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>BLOCK:CHUNK, both from 0: the first epoch begins with this chunk, goes on with what comes after it in the data and ends with what comes before it, so nothing is left out. Both parts are shuffled as usual; later epochs are as without it. The data is looked through up to there before training begins. Empty: at the beginning.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Expected loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What fresh weights are expected to need for new text after the first megabyte, as a multiple of what zstd needs for it. Learnt from runs of the presets on prose, code, licences, tables and logs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Expected loss, fall</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the expected loss falls with the text that was trained: megabytes to the power of minus this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss alarm below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transfers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranges of a file that the feeder of a run fetches from a server at once. More than a few are of use on slow or distant connections only, and a server may refuse them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the replicas of the workers become one model: average of weights by tokens, DiLoCo (average with outer momentum; the last round keeps what evaluates best of outer step and plain average), or none: N models.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 0: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longer samples are filtered and counted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use only this many samples of each source.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as many as heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heads of keys and values in grouped-query attention.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the usual one for the activation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inner size of the feed-forward part.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one for all tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Feed-forward parts to choose from in each block (mixture of experts).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as many as layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hrm: blocks of the fast module.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>train all weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train only a pair of small matrices beside each linear layer and keep the weights of init_from as they are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>twice the rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The pairs are scaled by alpha / rank.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as the stopping rules or the epochs say</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the run at which the final rate is reached.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep a moving average of the weights with this decay; evaluation, samples and exports use it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one per device, two on a CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Number of workers. Where they are never merged, 0 makes one on a CPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads per worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cores divided by workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU threads of one worker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after this many optimiser steps, summed over the workers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>by time only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Also save after this many own steps of a worker; at the end of its chunk where that is at most five seconds away.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no clipping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Largest norm of the gradient.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only at the end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own steps of a worker between two evaluations on held-out text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own steps of worker 0 between two text samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An alarm is raised when the loss on new text lies below this share of the expected one: labels may not be shifted, or the data contains copies of itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ten times an epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the run between two merges. With 0 none comes before each worker has done 250 steps. There is always one at the end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files, folders or globs with text (txt, csv, tsv, jsonl, json, parquet, arrow, warc; plain, .gz, .zst, .xz or .bz2; all but compressed Parquet and Arrow also inside .zip and .tar), or hf://owner/name[:config][:split][@revision], https://host/file, s3://bucket/key, gs://bucket/key (a folder that ends in /, a pattern).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens in one training window. With init_from at most the context of that model, which stays as it is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inside the feed-forward part; the ones with glu have a gate. gelu is the form with tanh.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The whole shape of a model as JSON, for what has no setting of its own; init_from fills it in. Empty: the settings above.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How rows that are conversations (messages, ShareGPT, Alpaca, prompt and completion; found by their columns) become text: chatml, the file of a template, or the folder of a model that has one. Empty: that of the model of init_from, and without one the rows are plain text. none: plain text in any case.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers that are learnt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which turns of the assistant count in the loss; everything else is read but not learnt. A turn is what the template marks with {% generation %} or, without such marks, what it adds when the turn is there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longer than a window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples apart</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether a sample reads nothing of the samples before it in the same window: attention stays inside it and positions begin anew, as if it were trained alone; held-out loss is measured so too. auto: for conversations with architecture gpt. off: a window is one text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples in windows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A checkpoint folder of a run, a Hugging Face folder with model.safetensors, a GGUF, or a model of the hub (hf://owner/name, which the command line brings to this machine first), whose weights the run starts from. Shape and tokenizer are taken from there. Empty: fresh weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A JSONL file of questions with known answers, a multiple choice (question, choices, gold) or written (question, answer), that each evaluation puts to the model too, as &apos;furrowctl eval --tasks&apos; does afterwards; the share of right answers is told beside the loss. The run keeps a copy. Empty: none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First questions of eval_tasks that one evaluation asks. Training waits meanwhile.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Column that holds the text in csv, jsonl, json, parquet, arrow and WebDataset; meta.text, paragraphs[] and messages[].content name what is nested, and the texts of a list are joined by line breaks. In one JSON document data[].text names the list whose elements are rows. Empty: the first of text, txt, content, sentence, document, article, body, whatever their case, also as the last part of a nested name (meta.text), else the column with the most text, by the first 100 rows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after this much active time. Pauses, and waits for data that cannot be reached, are not in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How samples come to lie in the windows of a chunk. end_to_end: one after the other, and what does not fit goes on in the next window; there is no padding but in the last. best_fit: a sample is whole in one window if it fits into one, the longest first, each where the least room is left over; the rest of a window is padding, whose share is shown. single: each sample begins a window of its own. auto: best_fit for conversations that are kept apart (document_masks), else end_to_end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clip per sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no clipping by sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Largest norm of the gradient of one window alone (elsewhere max_grad_norm): no window moves the weights further than that in a step. A step is the mean over its windows then, each by the mean of its labels. For architecture gpt without experts; on a CPU by libtorch&apos;s operators.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Noise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private training: normal noise on the sum of clipped gradients, its deviation this many times clip_per_sample. 0.5 to 2 is usual; the larger a step (batch_size, grad_accum), the less it is felt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private unit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whose part is bounded and hidden. window: as much text as is trained together. sample: a row of the data, which then has a window of its own (packing single, long_samples cut or leave_out).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delta</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no epsilon is said</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the guarantee that status and audit state: epsilon at this delta. It should be well below one divided by the number of units, such as 0.000001.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run ends before any unit takes part once more than this allows, whatever else was asked for. What was trained and lost with its weights counts too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file that names what is not trained, one entry a line: chunk BLOCK:COLUMN, sample FINGERPRINT, pattern REGEX. Chunks are counted as left out, samples as filtered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop with the step that reaches this many trained tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beginning of the text samples; empty: a text of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>byte, char (characters found in the data), gpt2, or the path of a tokenizer.json or sentencepiece .model. A special token (&lt;s&gt;) that stands in a text of the data is plain text; in conversations it is the token, as where transformers applies the template.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End when this many blocks are trained. Blocks are shuffled within a window (shuffle_window_blocks), so that chunks of others are trained by then too. A block of which this run trains nothing does not count: all of it is left out, was trained by the parent run, or has nothing to train.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What becomes of samples that are longer than seq_len, with the end-of-text after each: they go on in the next window (split), their end is cut off (cut), or they are not trained (leave_out). Those that are cut or left out are counted. Of a pair of answers each with its prompt may have half of seq_len, and split leaves out what is longer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens when a file of the data is not any more what it was when the run was made, or its rest cannot be read: the run stops and says so (stop), or what of the file is not prepared yet is left out, by name (leave_out). Rows that are left out because they cannot be read count as unreadable, but not towards max_unreadable_percent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run stops when a larger share of the rows read so far cannot be read, and at least ten of them. Those that bad_files leaves out do not count. 100: no limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>next_token: to go on with texts and conversations. dpo: direct preference optimisation (arXiv:2305.18290); the rows are pairs of a chosen and a rejected answer, and the model learns to make the chosen one likelier than its start weights make it, as against the other one. It needs lora_rank: the start weights, with the pairs of LoRA switched off, are the reference.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DPO beta</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With objective dpo: how closely the model is held to its start weights. The smaller, the further it may go. 0.05 to 0.5 is usual; with dpo_normalise length 2 to 10.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DPO by length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With objective dpo: what is compared of two answers. none: the log-probability of the whole answer against that of the reference (loss_type sigmoid of trl). length: the same divided by the tokens of the answer, so that a long answer does not count for its length (sigmoid_norm of trl).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On a GPU, replay what a micro-batch does as one CUDA graph: fewer launches, more memory. It is compared with an ordinary pass before it is used. Not for mixture of experts, recomputed activations, HRM, preferences and data-parallel training.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SmallCharts</name>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>per worker, each on its own schedule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameter norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>per replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drift of replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from their mean at each merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MiB per worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms per step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Backward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share of the questions, at each evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Privacy spent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epsilon at most, of any unit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all workers, stacked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Margin of the chosen answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean of a step, against the start weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chosen answers preferred</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share of the pairs of a step</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StateGlyph</name>
    <message>
        <source>Running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queued</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Tables</name>
    <message>
        <source>Worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>given back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claimed twice at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>excluded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>may change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>changes the curves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fixed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Level</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Group</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leased</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Claim</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Begun</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phase, or why it ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What and why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Age</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left behind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not checked yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verified at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>removed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>best</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pinned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (begun with %2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>newest of its replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to C%2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>data %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merging %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoints %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluation %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ledger %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>telemetry %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It took %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>most trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not alive, no end was recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps that are in these weights, those of all replicas that were merged into them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens in it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that are in these weights, those of all replicas that were merged into them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps that this worker has made, those whose work was lost too. Of a merge: those in the weights that it wrote.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saved later</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that this worker has trained, those whose work was lost too. Of a merge: those in the weights that it wrote. Where all workers train one model, worker 0 has those of all of them since the run began, and each other one its own part since its process started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained or begun, and their weights are gone: they are trained again. Below the meters of the overview it says how many went with their workers, by going back to an older checkpoint, and with damage.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss of the newest step that this worker told of, also where that step was lost with its weights.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>New</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leased</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>excluded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>debug</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>info</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block %1, chunk %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 d %2 h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n worker</numerusform>
            <numerusform>%n workers</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 · attempt %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not started yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s) · %1</source>
        <translation>
            <numerusform>%n epoch · %1</numerusform>
            <numerusform>%n epochs · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished (marked by hand)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>finished (marked by hand) · %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 → %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln chunk(s) · %1</source>
        <translation>
            <numerusform>%Ln chunk · %1</numerusform>
            <numerusform>%Ln chunks · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>warming up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluating</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saving a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>merging</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs %1 and %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>made %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) left out as repeats of text before them.</source>
        <translation>
            <numerusform>%n sample left out as a repeat of text before it.</numerusform>
            <numerusform>%n samples left out as repeats of text before them.</numerusform>
        </translation>
    </message>
    <message>
        <source>When last read, at %1, the run was: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown since %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A copy: %1 is the same run in another folder. Each goes on by itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>standing still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (lost)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From steps that are in no checkpoint: their weights are gone, and they are trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of all attempts, while a worker lived: without pauses, and without waits for data that cannot be reached. Hours to train for and tokens per second go by it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pausing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In checkpoints and in the weights of living workers, with the chunks under way. What went with its weights is not among them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Loss of the newest step, mean of %n worker(s), weighted by the tokens trained</source>
        <translation>
            <numerusform>Loss of the newest step, of %n worker</numerusform>
            <numerusform>Loss of the newest step, mean of %n workers, weighted by the tokens trained</numerusform>
        </translation>
    </message>
    <message>
        <source>work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly trained, the rest left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>work lost, a part of it kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::Actions</name>
    <message>
        <source>&amp;File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose data, model and devices, and start training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run from this one…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new run with the configuration of the one shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show a run that lies outside the workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open workspace…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture of the window…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the console; training goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find on this page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear selection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow the run. Off freezes the views; the run goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous zoom</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overview</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Charts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Config</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put every dock back in its place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End all processes of the run now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at what a resume would do, then go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save checkpoint now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The evidence for the state of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next alert</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous alert</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show selected chunk in the map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read samples of the selected chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command palette</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find and run any command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy path of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open folder of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare runs…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All runs as a table; compare two to eight of them side by side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save page as picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save loss chart as picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As PNG, SVG or PDF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save loss chart as table…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The visible points as CSV</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play back the history of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save perspective…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save docks and page under a name of your own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove this perspective</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put into the queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starts by itself when its devices are free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags and note…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave this run out of the library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move to trash…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is deleted; the folder moves inside the workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore from trash…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show selected chunk in the charts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show selected chunk in the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs that wait for their devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is an alert, and who is told</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quarantine selected chunks…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave them out of the next run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quarantine list…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks, samples and patterns that later runs leave out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Brain…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its weights, and the runs they came from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merge replicas…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make one model of what the workers trained separately, and compare the losses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume by itself when interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Up to %1 times, with longer waits each time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A report, the measurements, the model, or a bundle for developers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave out of the library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For a run outside the workspace; its folder stays as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shown page as PNG, SVG or PDF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train a small text that comes with Furrow on the CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after this block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop when the next block is complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after this epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop at the end of the current epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluate now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each worker evaluates its weights on the held-out text at its next step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try poisoned chunks again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepare and train them once more: those selected, otherwise all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept poisoned chunks…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They stay untrained and are named, and the epoch can end without them: those selected, otherwise all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not possible now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Audit the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The proof: each chunk is in the weights once, and weights and blocks are as recorded, by their SHA-256</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Audit the ledger alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same proof in seconds; weights and blocks are not inspected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave selected chunks out of this run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Those that are not trained yet are not trained in this epoch, nor in later ones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Collapse the lower docks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only their tabs are left. A double click on a tab does the same, a click on it brings them back</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::AlertList</name>
    <message numerus="yes">
        <source>%n more; J and K step through them</source>
        <translation>
            <numerusform>%n more; J and K step through them</numerusform>
            <numerusform>%n more; J and K step through them</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::AlertsDialog</name>
    <message>
        <source>Show a notification of the desktop when this window is not in front</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>above</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command to run for each alert</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run without a shell. FURROW_RUN, FURROW_ALERT and FURROW_TEXT are in its environment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save alerts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::Appearance</name>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Same as the system</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::AuditDock</name>
    <message>
        <source>Check now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking every chunk…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save report</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reports</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check weights and files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read the data again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepares every block from the source once more and compares the samples by their fingerprints. This takes as long as preparing did.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads the newest weights and the prepared blocks and compares their SHA-256 with what was recorded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped. The weights were not inspected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show report</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing; weights and files are as recorded. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>No chunk twice, none missing; weights and files are as recorded. %Ln chunk checked at %1.</numerusform>
            <numerusform>No chunk twice, none missing; weights and files are as recorded. %Ln chunks checked at %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunk checked at %1.</numerusform>
            <numerusform>No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunks checked at %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing. %Ln chunk(s) checked at %1; weights not inspected.</source>
        <translation>
            <numerusform>No chunk twice, none missing. %Ln chunk checked at %1; weights not inspected.</numerusform>
            <numerusform>No chunk twice, none missing. %Ln chunks checked at %1; weights not inspected.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Problems found: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>Problems found: see below. %Ln chunk checked at %1.</numerusform>
            <numerusform>Problems found: see below. %Ln chunks checked at %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Trained twice: %1. Missing: %2. %Ln chunk(s) checked at %3.</source>
        <translation>
            <numerusform>Trained twice: %1. Missing: %2. %Ln chunk checked at %3.</numerusform>
            <numerusform>Trained twice: %1. Missing: %2. %Ln chunks checked at %3.</numerusform>
        </translation>
    </message>
    <message>
        <source>No run is shown.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::BoxRows</name>
    <message>
        <source>%1: median %2, from %3 to %4</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::BrainDialog</name>
    <message>
        <source>nothing yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1, complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1: %2 of %3 chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>other data</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) of the same data</source>
        <translation>
            <numerusform>%n chunk of the same data</numerusform>
            <numerusform>%n chunks of the same data</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, then left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, then trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is no longer there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Had seen before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs the weights came from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Brain of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A brain is what remains when runs end: the weights, their tokenizer, and what they have seen. A new run from a checkpoint continues with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open that run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run has no weights of its own yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokenizer: %1, %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights: %1 (%2), loss %3 on held-out text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights: %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChangedSettings</name>
    <message>
        <source>No setting is changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Safe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not safe: curves before and after cannot be compared</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChartSettings</name>
    <message>
        <source>Display</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smooth over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>2 % of all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothing width in units of the horizontal axis, for example 20M. Empty: a fiftieth of the whole range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Raw points</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was measured, behind the smoothed curves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean of the workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weighted by their tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic horizontal axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Perplexity at the right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>e to the power of the loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show every point</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Otherwise the few most extreme points are clipped, with an arrow and their value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranges</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>x from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>everything</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>x to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Charts below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seconds</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChartsPage</name>
    <message>
        <source>Horizontal axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time of day</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>EMA</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>EMA, both ways</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gaussian</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smooth: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Visible range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No steps recorded yet. Worker %1: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Extremes and means of what is visible, for each worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Display</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothing width, scales, numeric ranges and which charts there are</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps made, all workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs, by samples trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens, samples, epochs and steps of all workers count all that was trained: what was lost with its weights and trained again is in them twice.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChatColumn</name>
    <message>
        <source>Nothing has been said yet. Hold the pointer over a word of the model to see how likely it was.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the weights…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no chat format: the text is continued</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From here on with newer weights: %1, step %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), %1 per second</source>
        <translation>
            <numerusform>%Ln token, %1 per second</numerusform>
            <numerusform>%Ln tokens, %1 per second</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. Cut off before the model had ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tokenizer has nothing for: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 What was said is forgotten; say something to begin again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChatPage</name>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beside them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of an answer, at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk beside it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say something. Enter sends it, Shift and Enter begins a new line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you say</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model forgets what was said</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChatSession</name>
    <message>
        <source>%1 ended: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointChoices</name>
    <message>
        <source>Checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Before the stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, replica %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, best</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at the stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The newest of each replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln more checkpoint(s) damaged or not readable</source>
        <translation>
            <numerusform>%Ln more checkpoint damaged or not readable</numerusform>
            <numerusform>%Ln more checkpoints damaged or not readable</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln checkpoint(s) left behind: the weights of the run did not grow from them</source>
        <translation>
            <numerusform>%Ln checkpoint left behind: the weights of the run did not grow from it</numerusform>
            <numerusform>%Ln checkpoints left behind: the weights of the run did not grow from them</numerusform>
        </translation>
    </message>
    <message>
        <source>Chunks trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>trains %Ln chunk(s) again</source>
        <translation>
            <numerusform>trains %Ln chunk again</numerusform>
            <numerusform>trains %Ln chunks again</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointPicker</name>
    <message>
        <source>Checkpoints of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from this checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the checkpoints…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run has no checkpoint yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The new run takes the weights and the settings of the model; its optimiser, data and epochs start afresh.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ChunkSamplesView</name>
    <message>
        <source>As trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How samples are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples of the chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the samples…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>held out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>occurs earlier in the block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>occurs first in %1, row %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a chunk to read its samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leave out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worst first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As stored</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Order of the samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of each chunk the losses of the six worst and the two best samples are kept, as they were when they were trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 filtered</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 held out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 unreadable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 for training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows: %2. %3 tokens of text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 left out as repeats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, row %2 cannot be used: it %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of them trained although their text occurs earlier in the block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, row %2 (line %3) cannot be used: it %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 What is learnt stands between « and ».</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt and rejected answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt and chosen answer</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command, run, setting or chunk (B3 C17)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing matches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show it in the map and in the inspector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the map that is shown has no such chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ComparePage</name>
    <message>
        <source>Curves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings that differ</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Summary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs with figures and settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Horizontal axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run compared with the baseline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Difference of the loss of each chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select two to eight runs (Ctrl and click, or Ctrl and Space); the first one is the baseline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Reading %n run(s)…</source>
        <translation>
            <numerusform>Reading %n run…</numerusform>
            <numerusform>Reading %n runs…</numerusform>
        </translation>
    </message>
    <message>
        <source>Baseline: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Setting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All settings are the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed of single steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed of single steps of one worker each, in tokens per second: smallest, quartiles, largest</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n worker(s)</source>
        <translation>
            <numerusform>%1, mean of %n worker</numerusform>
            <numerusform>%1, mean of %n workers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %Ln chunk(s)</source>
        <translation>
            <numerusform>%1, mean of %Ln chunk</numerusform>
            <numerusform>%1, mean of %Ln chunks</numerusform>
        </translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss of the first epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n runs are selected; at most eight can be compared.</source>
        <translation>
            <numerusform>%n run is selected; at most eight can be compared.</numerusform>
            <numerusform>%n runs are selected; at most eight can be compared.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. As of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chunk of the first epoch was trained by both yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 chunks of the first epoch in common, mean difference %2 nats, %3 better than the baseline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 chunk of the first epoch in common, difference %1 nats.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>units differ: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ConfigPage</name>
    <message>
        <source>Find a setting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Different from the preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run from this…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset %1, made %2 by Furrow %3, data %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data %1
Tokenizer %2
Vocabulary %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::CoverageMap</name>
    <message>
        <source>No block is prepared yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 chunks committed, %3 lost, %4 poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>B%1 C%2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n blocks</source>
        <translation>
            <numerusform>%n block</numerusform>
            <numerusform>%n blocks</numerusform>
        </translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), parts and lost ones included</source>
        <translation>
            <numerusform>%n training, parts and lost ones included</numerusform>
            <numerusform>%n trainings, parts and lost ones included</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 samples in checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out, none of its steps was finite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::CoveragePage</name>
    <message>
        <source>Layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Age</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layer: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Relative to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Relative to: nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No block is prepared yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change of loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Relative to: trend</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the worst chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select the chunks with the largest values of this layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no epoch before this one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fit: show the whole field</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Order of the rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>highest loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worst</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n chunk</numerusform>
            <numerusform>%n chunks</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, blocks %2 to %3, columns %4 to %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::DataPage</name>
    <message>
        <source>Blocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks of the block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocks and chunks of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; open too: %1 (the page Coverage shows another one)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::DataPreview</name>
    <message>
        <source>Looking at the data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Probed in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n block</numerusform>
            <numerusform>%n blocks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n chunk</numerusform>
            <numerusform>%n chunks</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1 samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>text in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 samples per block: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>first %n sample(s)</source>
        <translation>
            <numerusform>first sample</numerusform>
            <numerusform>first %n samples</numerusform>
        </translation>
    </message>
    <message>
        <source>Text column</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Several columns hold text: choose the one that is trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
    <message>
        <source>at least %1 chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the tokens are learnt, « » around them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1 tokens to train, %2 held out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at least 1 chunk</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::DevicePicker</name>
    <message>
        <source>%1 of %2 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % busy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in all</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>CPU, %n core(s)</source>
        <translation>
            <numerusform>CPU, %n core</numerusform>
            <numerusform>CPU, %n cores</numerusform>
        </translation>
    </message>
    <message>
        <source>no GPU was found</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::EpochHead</name>
    <message>
        <source>Epoch ends about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch ends about %1, likely between %2 and %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended because %1. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both epochs end about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both epochs end about %1, likely between %2 and %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is known of this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All epochs end about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All epochs end about %1, likely between %2 and %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::EpochMeters</name>
    <message>
        <source>Blocks visited</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committed %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leased %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>free %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not prepared %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>excluded %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned, accepted %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned %1, accept or retry before the epoch can end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows unreadable %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows filtered %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>work lost %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claimed by workers that are gone %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples left out as repeats %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly trained %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2 epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows filtered or left out with their file %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>poisoned %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of these left out, their steps were not finite %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of these %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained by the parent run %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of those left out, trained in part before %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of these kept in part %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::EpochTable</name>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Released</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: kept %2, to be redone %3, work lost %4, released %5, partly trained %6, free %7</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::EstimatePanel</name>
    <message>
        <source>Estimate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks in an epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time to one epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk, free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command that creates this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Launch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save preset…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) must be corrected before launch</source>
        <translation>
            <numerusform>%n setting must be corrected before launch</numerusform>
            <numerusform>%n settings must be corrected before launch</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose the data first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>in %n block(s)</source>
        <translation>
            <numerusform>in %n block</numerusform>
            <numerusform>in %n blocks</numerusform>
        </translation>
    </message>
    <message>
        <source>about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of tokens is not known before the data is prepared.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads and prepared blocks take at most %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As in the preset %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes to the preset %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Create the run and start it when its devices are free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run that trains in this way has been measured here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set every setting back to the value of the preset; the data and the name stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: set back to the value of the preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install libtorch…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known once the data has been looked at.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known once the settings of the data are right.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counted when the run is made: the data has several sources, or its samples are only estimated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show this setting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, measured on %2, its evaluations included</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, estimated from %2 by operations per token and cores or GPUs, its evaluations included</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::EventsDock</name>
    <message>
        <source>Events and alerts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Include every change of a chunk</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ExportDialog</name>
    <message>
        <source>Export run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Report of the run: state, figures, curves, settings and audit on one HTML page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measurements, as CSV tables</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measurements, as JSON lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measurements, for TensorBoard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model, for Hugging Face</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bundle for developers: logs, settings and audit, without data, weights, secrets or folder names</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where to write it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder is created there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Working…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has no checkpoint yet: the model has its start weights.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The weights: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 &quot;Merge replicas&quot; in the Run menu makes one model of them all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model, for llama.cpp (GGUF, 16 bits; furrowctl export has more types)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama.cpp has no form for the tokenizer of this run. The model can be exported for Hugging Face.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be written: the folder %2 is not there.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::FormField</name>
    <message>
        <source>%1 is empty: a file, a folder or an address (hf://, https://, s3://, gs://) is needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
It comes from the model that the run starts from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Separate several with commas. Put a name with a comma in it in double quotes: &quot;Goethe, Faust.txt&quot;, b.txt</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::FormGroup</name>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%n setting</numerusform>
            <numerusform>%n settings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::GpuDock</name>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Utilisation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Power</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>W</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>°C</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run trains on the CPU; no GPU is measured.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No measurement of a GPU was recorded. It needs the NVIDIA driver (NVML) on the machine that trains.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::HelpDialog</name>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::HubModelDialog</name>
    <message>
        <source>No model has been downloaded to this computer yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from a model on the hub</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name a model on the Hugging Face hub: hf://owner/name, or hf://owner/name/FILE.gguf. It is downloaded once; shape, context, tokenizer and chat template come with it. A gated model needs HF_TOKEN in the environment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model on the hub</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download and use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the selected one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::InspectorDock</name>
    <message>
        <source>Trainings of this chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Selected chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a run, worker or chunk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not in the epoch shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, claim %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient norm, peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) selected</source>
        <translation>
            <numerusform>%n chunk selected</numerusform>
            <numerusform>%n chunks selected</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phase</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restarts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended because</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in chart</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss inside the chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message>
        <source>spike</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Quarantine %n chunk(s)…</source>
        <translation>
            <numerusform>Quarantine %n chunk…</numerusform>
            <numerusform>Quarantine %n chunks…</numerusform>
        </translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained it; left out here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained it; trained again here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed by attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no end was recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Supervisor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>process %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detail</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory, peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 times the estimate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept as not trained…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>once, in %1 parts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An interrupted chunk is continued from where it was: each part is in the weights once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens learnt from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens with nothing before them are read and not predicted, so there are fewer of these than the text has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), with their weights</source>
        <translation>
            <numerusform>%n training, with its weights</numerusform>
            <numerusform>%n trainings, with their weights</numerusform>
        </translation>
    </message>
    <message>
        <source>Newest process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier ones of this worker are on the Workers page.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As last read, at %1: the folder of the run cannot be read now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not in a checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 parts, the others in no checkpoint yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is trained when it is claimed again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>was %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; not in the epoch shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, median of %2 %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quarantine leaves chunks out of later runs; this run keeps and trains them. Chunks that are not trained yet can be left out of this run too (menu Data).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no: it is left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no: it is left out, none of its steps was finite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 samples, their steps were not finite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from the parent run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, without a part that was cut off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, in %2 parts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no: there is nothing to train in it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::LaneLegend</name>
    <message>
        <source>wait</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>commit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no process</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::LaneView</name>
    <message>
        <source>Worker lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n lanes</source>
        <translation>
            <numerusform>%n lane</numerusform>
            <numerusform>%n lanes</numerusform>
        </translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, worker %2, from %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::LanesDock</name>
    <message>
        <source>No chunk was claimed yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time range</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Last %n minute(s)</source>
        <translation>
            <numerusform>Last minute</numerusform>
            <numerusform>Last %n minutes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Last %n hour(s)</source>
        <translation>
            <numerusform>Last hour</numerusform>
            <numerusform>Last %n hours</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>was %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::LibraryDock</name>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run matches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n run(s)</source>
        <translation>
            <numerusform>%1 of %n run</numerusform>
            <numerusform>%1 of %n runs</numerusform>
        </translation>
    </message>
    <message>
        <source>Include archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Words of name, note, group, preset or state; #word finds a tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Include archived (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add tag…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::LogPage</name>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Minimum level</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All levels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Info and above</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Process</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All processes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The selected line as it was written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line as written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the selected line below the table, in full, as its process wrote it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::MainWindow</name>
    <message>
        <source>Perspective</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Launch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inspect data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events and alerts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events and alerts %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 events/s   Lag %2 ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 – Furrow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writer: supervisor, alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writer: none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The path of the run is on the clipboard.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pausing at the end of the chunks in training…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping after a checkpoint…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Killing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saving a checkpoint…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking at what a resume would do…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End all processes of this run now?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing has been recorded yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open run folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture of the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Furrow %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trains every chunk of a data set exactly once per epoch, and can prove it.
Free software under the GNU General Public License, version 3 or later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save perspective</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save page as picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU history</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move %1 to the trash of this workspace?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder with its checkpoints moves to %1. Nothing is deleted; it can be restored.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The trash of this workspace is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore from trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from the run %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Docks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save loss chart as picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save loss chart as table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tables</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the perspective</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 moves to the trash. Run &gt; Restore from trash brings it back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run to restore</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Charts: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluating at the next step…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run stops when the next block is complete.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run stops at the end of this epoch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark as read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dismisses the warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taking the tracker forward…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tracker is older than the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Take it forward from the manifests? The file as it is now is kept beside it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take the tracker forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The poisoned chunks are tried again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept that no poisoned chunk is trained?</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Accept that %n poisoned chunk(s) are not trained?</source>
        <translation>
            <numerusform>Accept that %n poisoned chunk is not trained?</numerusform>
            <numerusform>Accept that %n poisoned chunks are not trained?</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept poisoned chunks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The epoch can end without them; audit and reports go on naming them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave them poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run cannot be resumed as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no perspective of your own is shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no run is shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another command is under way</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run is not being trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run is being trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run was not started yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run is finished already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there are fewer than two replicas to merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no chunk is poisoned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run is in the workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every chunk that was begun is in a checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are not in a checkpoint now; a resume trains them again. Stop would save them first.</source>
        <translation>
            <numerusform>%n chunk is not in a checkpoint now; a resume trains it again. Stop would save it first.</numerusform>
            <numerusform>%n chunks are not in a checkpoint now; a resume trains them again. Stop would save them first.</numerusform>
        </translation>
    </message>
    <message>
        <source>only on the pages Charts and Coverage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only on the page Charts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no chunk is selected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run has ended in the meantime.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the toolbar always stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chunks twice or missing %1 · %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the workers continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the folder of the run cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1 is not a run, but it holds %n run(s): File &gt; Open workspace shows them.</source>
        <translation>
            <numerusform>%1 is not a run, but it holds %n run: File &gt; Open workspace shows it.</numerusform>
            <numerusform>%1 is not a run, but it holds %n runs: File &gt; Open workspace shows them.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Choose the folder of one run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is a run, not a workspace: File &gt; Open run folder shows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writer: supervisor, stands still</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run is being read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no chunk is selected that is not trained yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave chunks out of this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Leave %n chunk(s) out of this run?</source>
        <translation>
            <numerusform>Leave %n chunk out of this run?</numerusform>
            <numerusform>Leave %n chunks out of this run?</numerusform>
        </translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Add a tag to %n run(s)…</source>
        <translation>
            <numerusform>Add a tag to %n run…</numerusform>
            <numerusform>Add a tag to %n runs…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash…</source>
        <translation>
            <numerusform>Move %n run to trash…</numerusform>
            <numerusform>Move %n runs to trash…</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Add it to %n run(s)</source>
        <translation>
            <numerusform>Add it to %n run</numerusform>
            <numerusform>Add it to %n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to the trash of this workspace?</source>
        <translation>
            <numerusform>Move %n run to the trash of this workspace?</numerusform>
            <numerusform>Move %n runs to the trash of this workspace?</numerusform>
        </translation>
    </message>
    <message>
        <source>The folders with their checkpoints move to %1. Nothing is deleted; they can be restored.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash</source>
        <translation>
            <numerusform>Move %n run to trash</numerusform>
            <numerusform>Move %n runs to trash</numerusform>
        </translation>
    </message>
    <message>
        <source>Keep the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n of them are in the weights in part; that part stays, the rest is not trained.</source>
        <translation>
            <numerusform>%n of them is in the weights in part; that part stays, the rest is not trained.</numerusform>
            <numerusform>%n of them are in the weights in part; that part stays, the rest is not trained.</numerusform>
        </translation>
    </message>
    <message>
        <source>Tried again: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not allowed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You do not have the right to do this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave %1 out of this run?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept that %1 is not trained?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This chunk will be trained in no epoch that is open now nor in later ones of this run. It counts as excluded, and audit and reports name it. That cannot be taken back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These chunks will be trained in no epoch that is open now nor in later ones of this run. They count as excluded, and audit and reports name them. That cannot be taken back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is in the weights in part; that part stays, the rest is not trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n other selected chunk(s) stay, trained already or in training.</source>
        <translation>
            <numerusform>One other selected chunk stays: it is trained already, or in training.</numerusform>
            <numerusform>%n other selected chunks stay: they are trained already, or in training.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::MapLegend</name>
    <message>
        <source>Minutes since training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State of each chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sum</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>block open for claims</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the data of each block is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>remote</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fetching</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evicted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the parent run had trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>new here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1 is open too, to come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trainings, parts and lost ones included</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained again, work was lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of lost ones kept in part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss above the trend, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss against the other training, %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::MemoryView</name>
    <message>
        <source>GPU memory, each</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of each worker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 parameters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>free %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known once the model can be built.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The program itself %1, a copy for checkpoints %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1 to %2, corrected by what %n worker(s) of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation>
            <numerusform>%1 to %2, corrected by what %n worker of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</numerusform>
            <numerusform>%1 to %2, corrected by what %n workers of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 to %2 by formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::MergeDialog</name>
    <message>
        <source>Merge replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n replica(s) trained separately</source>
        <translation>
            <numerusform>%n replica trained separately</numerusform>
            <numerusform>%n replicas trained separately</numerusform>
        </translation>
    </message>
    <message>
        <source>Merging makes one model of them, and every replica continues from it. The checkpoints of the members stay, as far as the keep policy keeps them. All losses are on the same held-out text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replica %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not made yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Method</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as set for the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>average, weighted by tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DiLoCo: outer momentum</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held-out loss of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluate members</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Merge %n replica(s)</source>
        <translation>
            <numerusform>Merge %n replica</numerusform>
            <numerusform>Merge %n replicas</numerusform>
        </translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merging…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing has been merged yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held-out loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No replica has trained anything since the last merge.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The merged weights are better than the best member by %1 %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The merged weights are worse than the best member by %1 %2; more training usually mends that.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::Meter</name>
    <message>
        <source>%1: %2 of %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, total not known yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>total not known yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::NewRunPage</name>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a setting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No setting matches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
the file cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed only (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder with safetensors and their configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name (otherwise preset and data)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a checkpoint…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>safetensors…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1, %n other setting(s)</source>
        <translation>
            <numerusform>%1, %n other setting</numerusform>
            <numerusform>%1, %n other settings</numerusform>
        </translation>
    </message>
    <message>
        <source>Text data (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All data together has about %1 tokens, less than one window of %2. Choose more text, or a shorter sequence length.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a GGUF…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A model as GGUF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a model on the hub…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::NotesDialog</name>
    <message>
        <source>Tags and note of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Separated by commas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Group</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Note</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save notes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::Notifier</name>
    <message>
        <source>The command for alerts could not be started: %1.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::OverviewPage</name>
    <message>
        <source>Eval loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest text of the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The epoch stays open: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model writes after %1 steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Padding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Feeder busy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeated text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 blocks prepared, %2 found in the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>; downloaded %1 in %n request(s)</source>
        <translation>
            <numerusform>; downloaded %1 in %n request</numerusform>
            <numerusform>; downloaded %1 in %n requests</numerusform>
        </translation>
    </message>
    <message>
        <source>At %1 MB/s while a block is made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Places in training windows that hold no token to learn from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of time that the feeder spends making blocks; near 100 % the workers may wait for data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the text prepared in this attempt that repeats text before it, anywhere in the data, and is trained all the same</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocks from the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none, all cached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the sources, to make blocks; a block that lies prepared in the cache of the workspace is not read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unknown characters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that stand for characters the vocabulary does not have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Uses of each sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples, all epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No weights have been evaluated on held-out text yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeats trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left when the run ended: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss, not the newest, step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss, merged, step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eval loss, worker %1, step %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Now, all workers together. Kept tokens per second of active time: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No worker trains now. Kept tokens per second of active time: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 A worker counts its own steps, including those whose work was lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Mean of %n worker(s), of the loss of their newest step, weighted by the tokens trained; the curves are smoothed</source>
        <translation>
            <numerusform>The loss of the newest step of %n worker; the curves are smoothed</numerusform>
            <numerusform>Mean of %n workers, of the loss of their newest step, weighted by the tokens trained; the curves are smoothed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The newest steps of %n of them are lost and are trained again</source>
        <translation>
            <numerusform>The newest steps of %n of them are lost and are trained again</numerusform>
            <numerusform>The newest steps of %n of them are lost and are trained again</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all epochs: a sample counts once for each epoch it was trained in, in a chunk that is committed or was left out after a part of it was. Samples that were left out because their steps were not finite are not among them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples trained, over all epochs, per sample to be trained; what is held out or left out is not counted</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::OverviewStrip</name>
    <message>
        <source>Visible range</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::QuarantineDialog</name>
    <message>
        <source>Quarantine list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>List</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left-out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One entry per line:
chunk BLOCK:COLUMN
sample FINGERPRINT
pattern REGULAR EXPRESSION</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run without these…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n chunk</numerusform>
            <numerusform>%n chunks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n sample</numerusform>
            <numerusform>%n samples</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A list applies to later runs. Existing runs are not changed; chunks of the run that is shown are left out by the menu Data. Chunks are named by their place, so they mean the same only with the same data, samples per block and chunk size. Samples and patterns mean the same everywhere.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::QueueDock</name>
    <message>
        <source>Pause queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Later</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the next one run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop this run after a checkpoint and start the next one in its lane; it continues afterwards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run is waiting. “Queue” in a new run puts it here; runs that share a device wait for each other.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused: nothing new is started; what is training goes on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) waiting or training.</source>
        <translation>
            <numerusform>%n run waiting or training.</numerusform>
            <numerusform>%n runs waiting or training.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is waiting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No process runs the queue: nothing of it is started.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::RatePreview</name>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As usual: smoothly into a new schedule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The schedule keeps its length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The new schedule at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A new cycle from here, with a new warm-up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the learning rate goes on</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ReplayBar</name>
    <message>
        <source>Moment of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed of the replay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Take every view back to a past moment; the run goes on</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ResumeDialog</name>
    <message>
        <source>Start %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt 1 begins with fresh weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens to each chunk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s); the counts beside it say the same</source>
        <translation>
            <numerusform>Map of %n chunk; the counts beside it say the same</numerusform>
            <numerusform>Map of %n chunks; the counts beside it say the same</numerusform>
        </translation>
    </message>
    <message>
        <source>Dry run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in checkpoints that are on disk and verified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Orphaned claims released</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sum %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start as attempt 1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume as attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chunks twice %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From an older checkpoint, what is newer leaves the weights: its chunks are free again and are trained once more. The files stay for sampling and new runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chunk is trained again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again, about %1; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n chunk is trained again, about %1; after that it is in the weights once.</numerusform>
            <numerusform>%n chunks are trained again, about %1; after that each is in the weights once.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n chunk is trained again; after that it is in the weights once.</numerusform>
            <numerusform>%n chunks are trained again; after that each is in the weights once.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing changes until you press the button below.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed for attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>After an interruption, resume automatically, at most %1 times</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change settings or devices…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only in a checkpoint that is damaged or cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained after checkpoint %1, or only in one that is incomplete</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>I accept that %n chunk(s) are trained again</source>
        <translation>
            <numerusform>I accept that %n chunk is trained again</numerusform>
            <numerusform>I accept that %n chunks are trained again</numerusform>
        </translation>
    </message>
    <message>
        <source>Epoch of the map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The counts are of all these epochs together, the map is of one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained or begun after the newest checkpoint; those weights are gone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>claimed by workers that are gone, never begun</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s) of epoch %1; the counts beside it are of all open epochs</source>
        <translation>
            <numerusform>Map of %n chunk of epoch %1; the counts beside it are of all open epochs</numerusform>
            <numerusform>Map of %n chunks of epoch %1; the counts beside it are of all open epochs</numerusform>
        </translation>
    </message>
    <message>
        <source>Look again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a part of each is in checkpoints and kept; only the rest is trained, nothing of them again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; of %1 of them a part is in checkpoints and kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I accept that the run goes on without it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly trained: %1; what is trained of them is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained or begun after the checkpoint; those weights are gone, or left behind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nobody holds them; %1 excluded and %2 poisoned or accepted stay so</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; of these left out, their steps were not finite: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were left when the run went back to an older checkpoint</source>
        <translation>
            <numerusform>; %Ln of them was left when the run went back to an older checkpoint</numerusform>
            <numerusform>; %Ln of them were left when the run went back to an older checkpoint</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were only in a checkpoint that was damaged, gone or left out of a merge</source>
        <translation>
            <numerusform>; %Ln of them was only in a checkpoint that was damaged, gone or left out of a merge</numerusform>
            <numerusform>; %Ln of them were only in a checkpoint that was damaged, gone or left out of a merge</numerusform>
        </translation>
    </message>
    <message>
        <source>; chunks that are tried again because their files came wrong: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 keeps %2 of the %Ln chunk(s) of %3 that were trained or begun</source>
        <translation>
            <numerusform>Attempt %1 keeps %2 of the %Ln chunk of %3 that was trained or begun</numerusform>
            <numerusform>Attempt %1 keeps %2 of the %Ln chunks of %3 that were trained or begun</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunk(s) of %4 that were trained or begun</source>
        <translation>
            <numerusform>Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunk of %4 that was trained or begun</numerusform>
            <numerusform>Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunks of %4 that were trained or begun</numerusform>
        </translation>
    </message>
    <message>
        <source>; trained by the parent run and left out here: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Not on this map: %Ln chunk(s) of %1, to be redone too.</source>
        <translation>
            <numerusform>Not on this map: %Ln chunk of %1, to be redone too.</numerusform>
            <numerusform>Not on this map: %Ln chunks of %1, to be redone too.</numerusform>
        </translation>
    </message>
    <message>
        <source>Look at the checkpoints and the data once more: a disk may be back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of %1 of these a part is kept (%2 of their %3 samples), and only the rest is trained.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::RunBanner</name>
    <message>
        <source>How do we know?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inspect</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel automatic resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Resumes by itself in %2 (%3 of %4).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run cannot be read any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 What is shown is from %2, when it was last read. It continues by itself when the folder is back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoints cannot be found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits for its data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run is about to stop</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::RunListModel</name>
    <message>
        <source>no end was recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>since %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 step</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::RunView</name>
    <message>
        <source>Overview</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Charts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Workers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Config</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pages of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::SamplingPage</name>
    <message>
        <source>What the model writes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Written during training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint has been saved yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped by you.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the checkpoint, then writing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after %1 steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None. The setting “Sample every” writes some text while the run trains.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Empty: a text of its own</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::SeriesChart</name>
    <message>
        <source>No steps recorded yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 NaN</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 infinite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>falling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rising</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>level</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2, at %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 px = %1 points, min and max kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>eval</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, smoothed</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n workers</source>
        <translation>
            <numerusform>%1, mean of %n worker</numerusform>
            <numerusform>%1, mean of %n workers</numerusform>
        </translation>
    </message>
    <message>
        <source>jumps of the loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>eval (lost)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sort a table by the column of its cursor</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::SmallCharts</name>
    <message>
        <source>The replicas have not been merged yet.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::StartMap</name>
    <message>
        <source>Chunk to start at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planned from the number of samples. Where chunks would become larger than allowed they end earlier, so a block may have more of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the data first: its blocks and chunks are shown here, to click the one to start at.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking at the data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data cannot be read, so its chunks are not known.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How this data is cut into blocks and chunks is not known before the run, so there is no map. A chunk can be typed above.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The data has %1 chunks, too many for a map of this size. One can be typed above.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n block</numerusform>
            <numerusform>%n blocks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n chunk</numerusform>
            <numerusform>%n chunks</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 The first epoch starts at %2 and ends with what comes before it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Without a chunk the first epoch begins wherever its order begins.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 No chunk is chosen. Click the one to start at, or move there with the arrow keys.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::TaskRunner</name>
    <message>
        <source>%1 could not be run: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::TokenView</name>
    <message numerus="yes">
        <source>%n tokens: %1</source>
        <translation>
            <numerusform>%n token: %1</numerusform>
            <numerusform>%n tokens: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::TorchDialog</name>
    <message>
        <source>Install libtorch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training uses libtorch, which is not part of Furrow. One that is on this computer can be used as it is; otherwise it is downloaded from the package index that pip is configured for, and compared with a hash that Furrow knows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With CUDA&apos;s libraries, for GPUs of NVIDIA</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From a folder of wheels…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of wheels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Working…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fetching %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpacking %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>libtorch is there and works.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::UntilRead</name>
    <message>
        <source>Reading…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::WeightsChoice</name>
    <message>
        <source>merge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, eval loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2, step %3%4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the newest: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the newest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, the newest</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::WelcomePage</name>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a run in the library, or start a new one in %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No runs in this workspace yet. The demonstration trains a small text that comes with Furrow on the CPU; the loss falls within seconds.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::WordsDialog</name>
    <message>
        <source>One text of the data set.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The samples that one worker claims and trains at a time. Its size does not change GPU memory: batch size times context does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Consecutive samples that are fetched, cleaned and cut into tokens as one unit. A block is made of chunks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The windows of tokens in one micro-step of one worker. It decides how much memory a step takes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many tokens the model sees at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every chunk of every block committed once, or named as excluded or poisoned.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One training job with its frozen configuration. It lives in one folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One stretch of a run from start or resume until stop, crash or end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One process on one device that claims chunks and trains them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chunk is in a checkpoint. Trained means: in the weights of a worker, not saved yet; a crash costs that work.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chunk failed too often. It keeps the epoch open until it is accepted or tried again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No process of the run is alive and none recorded why it ended: the computer stopped or the processes were killed. Resume shows what would be trained again before it does anything.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The weights of the workers become one set of weights.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::WorkerCard</name>
    <message>
        <source>Worker %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How far the chunk is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, process %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>, %n restart(s)</source>
        <translation>
            <numerusform>, %n restart</numerusform>
            <numerusform>, %n restarts</numerusform>
        </translation>
    </message>
    <message>
        <source>not alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker %1: %2, loss %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>At most %1 of memory, %2 times the estimate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 step</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>furrow::WorkersPage</name>
    <message>
        <source>Worker processes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worker processes of all attempts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A pinned checkpoint is never removed by the keep policy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write text…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run from it…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best: checkpoint %1, eval loss %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verify all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads every file of the checkpoints again and compares it with what was recorded when it was written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the files, %1 of %2…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) verified: every file is as it was written.</source>
        <translation>
            <numerusform>%n checkpoint verified: every file is as it was written.</numerusform>
            <numerusform>%n checkpoints verified: every file is as it was written.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) not whole. %1</source>
        <translation>
            <numerusform>%n checkpoint not whole. %1</numerusform>
            <numerusform>%n checkpoints not whole. %1</numerusform>
        </translation>
    </message>
    <message>
        <source>checkpoint %1, all replicas merged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint %1, replica %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was not evaluated. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The program reported no loss.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, perplexity %5, on %6.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all held-out text (%1 tokens)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of this text was also trained on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As last read, at %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These are not the newest weights of the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They are from before the end of epoch %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1. Ages are those of then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, chosen answer preferred in %5, on %6.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all held-out pairs (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 pairs of %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
