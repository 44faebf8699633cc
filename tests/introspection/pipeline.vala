/* SPDX-License-Identifier: MIT */
/* A transform and a program in Vala: the API is usable as its vapi says. */

class Shout : Dlp.Transform {
  construct {
  }

  public override bool process (void *worker,
                                Dlp.RecordBatch batch,
                                uint64 first,
                                Dlp.TransformOutput output) throws GLib.Error {
    unowned Dlp.RecordBatchBuilder builder = output.get_builder (0);

    for (uint row = 0; row < batch.get_length (); row++) {
      builder.append_string (0, batch.dup_string (0, row).up ());
      output.end_record (0, batch.get_coordinate (row));
    }
    return true;
  }
}

int main (string[] args) {
  Test.init (ref args);
  Test.add_func ("/vala/pipeline", () => {
    try {
      string folder = DirUtils.make_tmp ("dlpipe-vala-XXXXXX");
      string input = Path.build_filename (folder, "in.jsonl");
      string output = Path.build_filename (folder, "out.jsonl");
      string text;
      string major;

      FileUtils.set_contents (input, "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
      Dlp.registry_add_element ("vala-shout", typeof (Shout));
      var pipeline = new Dlp.Pipeline.from_string (
        @"file-source location=$input ! jsonl-reader ! vala-shout ! jsonl-sink location=$output");
      assert_true (pipeline.run (null));
      assert_true (pipeline.get_status () == Dlp.PipelineStatus.FINISHED);
      assert_true (pipeline.get_n_items () == 4);
      FileUtils.get_contents (output, out text);
      assert_cmpstr (text, CompareOperator.EQ, "{\"text\":\"ONE\"}\n{\"text\":\"TWO\"}\n");
      major = Dlp.get_version (null, null, null).split (".")[0];
      assert_cmpstr (major, CompareOperator.EQ, Dlp.MAJOR_VERSION.to_string ());
      FileUtils.unlink (input);
      FileUtils.unlink (output);
      foreach (unowned string name in new string[] { "out.jsonl.manifest.json" })
        FileUtils.unlink (Path.build_filename (folder, name));
    } catch (GLib.Error error) {
      message ("%s", error.message);
      Test.fail ();
    }
  });
  Test.add_func ("/vala/error", () => {
    try {
      new Dlp.Pipeline.from_string ("no-such-element ! null-sink");
      assert_not_reached ();
    } catch (Dlp.GraphError error) {
      assert_true (error is Dlp.GraphError.UNKNOWN_ELEMENT);
    } catch (GLib.Error error) {
      assert_not_reached ();
    }
  });
  return Test.run ();
}
